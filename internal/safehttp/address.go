package safehttp

import (
	"net/netip"
	"slices"
	"syscall"

	"atelier/media"
)

// special are the blocks that are not plain public addresses (IANA special-purpose
// registries) beyond those that netip tells by itself.
func special() []netip.Prefix {
	return []netip.Prefix{
		netip.MustParsePrefix("0.0.0.0/8"),       // this network
		netip.MustParsePrefix("100.64.0.0/10"),   // carrier-grade NAT
		netip.MustParsePrefix("192.0.0.0/24"),    // protocol assignments
		netip.MustParsePrefix("192.0.2.0/24"),    // documentation
		netip.MustParsePrefix("192.88.99.0/24"),  // 6to4 relays
		netip.MustParsePrefix("198.18.0.0/15"),   // benchmarks
		netip.MustParsePrefix("198.51.100.0/24"), // documentation
		netip.MustParsePrefix("203.0.113.0/24"),  // documentation
		netip.MustParsePrefix("240.0.0.0/4"),     // reserved, broadcast
		netip.MustParsePrefix("2001::/23"),       // protocol assignments, Teredo
		netip.MustParsePrefix("2001:db8::/32"),   // documentation
		netip.MustParsePrefix("2002::/16"),       // 6to4, which carries any IPv4
		netip.MustParsePrefix("3fff::/20"),       // documentation
	}
}

// Public reports whether an address may be fetched from: a plain unicast address
// of the open internet. Loopback, private, link-local (cloud metadata), shared,
// multicast, unspecified and reserved addresses are not, nor are they when they
// are wrapped in IPv6.
func Public(a netip.Addr) bool {
	a = a.WithZone("").Unmap()
	nat64 := netip.MustParsePrefix("64:ff9b::/96")
	switch {
	case !a.IsValid() || !a.IsGlobalUnicast() || a.IsPrivate():
		return false
	case nat64.Contains(a): // a translated IPv4 address: judged as what it means
		b := a.As16()
		return Public(netip.AddrFrom4([4]byte(b[12:])))
	case a.Is6() && !netip.MustParsePrefix("2000::/3").Contains(a):
		return false
	}
	return !slices.ContainsFunc(special(), func(p netip.Prefix) bool { return p.Contains(a) })
}

// control is called with each resolved address just before the connection is
// made, so that no second look-up can change it.
func control(_, address string, _ syscall.RawConn) error {
	ap, err := netip.ParseAddrPort(address)
	if err != nil || !Public(ap.Addr()) {
		return media.Errorf(media.CodeBlockedAddress,
			"the address %s is not on the public internet: it is fetched only if the operator has configured that origin", address)
	}
	return nil
}
