// A picture as PNG: a sky, a sun and hills whose colors depend on a name.
import { deflateSync } from "node:zlib";

const table = Array.from({ length: 256 }, (_, n) => { let c = n; for (let k = 0; k < 8; k++) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1; return c >>> 0; });
const crc = (b) => { let c = 0xffffffff; for (const x of b) c = table[(c ^ x) & 255] ^ (c >>> 8); return (c ^ 0xffffffff) >>> 0; };

function chunk(type, data) {
  const b = Buffer.alloc(12 + data.length);
  b.writeUInt32BE(data.length, 0);
  b.write(type, 4, "latin1");
  data.copy(b, 8);
  b.writeUInt32BE(crc(b.subarray(4, 8 + data.length)), 8 + data.length);
  return b;
}

const cache = new Map();

export function png(width, height, name) {
  const key = `${width} ${height} ${name}`;
  if (cache.has(key)) return cache.get(key);
  const hue = [...name].reduce((h, c) => (h * 31 + c.charCodeAt(0)) % 360, 7);
  const color = (d, l) => [0, 120, 240].map((o) => Math.round(255 * Math.min(1, Math.max(0, l + 0.28 * Math.cos(((hue + d - o) * Math.PI) / 180)))));
  const top = color(0, 0.45), low = color(50, 0.78), sun = color(60, 0.92), hill = color(160, 0.3), near = color(170, 0.18);
  const rows = Buffer.alloc((width * 3 + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const u = x / width, v = y / height;
      let c = top.map((t, i) => Math.round(t + (low[i] - t) * v));
      if ((u - 0.68) ** 2 + ((v - 0.34) * height / width) ** 2 < 0.01) c = sun;
      if (v > 0.62 + 0.09 * Math.sin(u * 7 + hue)) c = hill;
      if (v > 0.78 + 0.06 * Math.sin(u * 11 + hue * 2)) c = near;
      rows.set(c, y * (width * 3 + 1) + 1 + x * 3);
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2, 0, 0, 0], 8);
  const data = Buffer.concat([Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]), chunk("IHDR", head), chunk("IDAT", deflateSync(rows)), chunk("IEND", Buffer.alloc(0))]);
  cache.set(key, data);
  return data;
}
