package speech

import (
	"slices"
	"strings"
	"sync"
	"unicode"
)

// Lexicon holds the words that mean the same and the words of questions.
type Lexicon struct {
	Concepts    map[string][]string // stem → first words of its lines
	Fillers     map[string]bool
	Owners      map[string]bool
	ActionVerbs map[string]bool
	Phrases     map[string][]Phrase // first word → phrases that begin with it, longest first
}

// Phrase is one word, or several, of the grammar of questions.
type Phrase struct {
	Words []string
	Kind  Kind
	Arg   string
	About string // the concept that the word itself implies: older → age
}

// sameWords lists the words for one thing in tables, one thing per line: English, German, a
// few French. The first word is the name of the concept.
const sameWords = `
revenue revenues sales sale takings turnover proceeds income umsatz umsätze erlös erlöse einnahmen einnahme ventes recettes vente
yield yields yielded harvest harvested ernte geerntet ertrag erträge
speed speeds geschwindigkeit tempo velocity
width wide breite largeur
humidity luftfeuchtigkeit feuchte feuchtigkeit
pressure druck luftdruck
size sizes bytes größe taille
area sqm surface fläche wohnfläche qm size
rooms room zimmer räume pièces
bedrooms bedroom beds bed schlafzimmer
concentration konzentration
page pages url path seite seiten endpoint
expiry expire expires expired expiring ablauf abgelaufen läuft verfall haltbar mhd
unitaire unit einzel
preferred prefer prefers preference favourite favorite favourites favorites liebsten lieblings bevorzugt bevorzugtes bevorzugte bevorzugter
meal meals essen mahlzeit mahlzeiten gericht gerichte
profit profits earnings gewinn gewinne bénéfice
cost costs outflow outflows expense expenses expenditure spending spend spent spends kosten ausgaben ausgabe aufwand aufwendungen gekostet ausgegeben dépenses dépense coût
price prices cost costs priced expensive preis preise kostet kosten gekostet teuer prix
amount amounts value values betrag beträge montant wert werte valeur summe total
spent spend spending outflow outflows debit withdrawal
income inflow inflows credit deposit received eingang
fee fees cost costs gebühr gebühren honorar honorare entgelt
budget budgets planned plan budgeted ansatz soll geplant eingeplant veranschlagt
actual actuals ist tatsächlich réel
salary salaries wage wages pay earn earns earned earning compensation gehalt gehälter lohn löhne verdienen verdient verdienst salaire
quantity quantities qty units unit pieces sold menge mengen stück stückzahl stk anzahl verkauft verkaufte absatz quantité nombre
stock inventory hand pieces units stück bestand bestände lagerbestand vorrat lager available verfügbar
worth value wert warenwert lagerwert
weight weights mass weigh weighs weighed gewicht masse schwer wiegt wiegen poids
max maximum highest höchst höchste
min minimum lowest tiefst niedrigst niedrigste
rank ranking position place platz rang placement platzierung
height heights tall höhe körpergröße hauteur
length long länge longueur
distance mileage kilometers kilometres km miles driven drove drive strecke entfernung kilometer gefahren distanz
wait waits waited waiting wartezeit wartezeiten warten wartet wartete warteten gewartet
duration finish zielzeit runtime laufzeit spieldauer lasted last dauer durée lasting
hours hour stunden stunde heures
temperature temperatures temp temps temperatur temperaturen température
rain rainfall rained precipitation niederschlag niederschläge regen geregnet pluie precip
electricity power strom energie energy elektrizität
consumption consumed consume usage used use verbrauch verbraucht consommation
generation generated generate production produced produce output erzeugung erzeugt produktion produziert
fuel petrol gasoline kraftstoff sprit getankt refuelled carburant
liters litres liter litre l
population inhabitants residents einwohner einwohnerzahl bevölkerung habitants
age ages old alter alt âge
score scores points grade grades mark marks note noten punkte punktzahl scored
satisfaction satisfied happy happiness zufriedenheit zufrieden glücklich
rating ratings rated rate rates stars score scores bewertung bewertungen bewertet bewerten satisfaction satisfied happy zufriedenheit zufrieden
death deaths died dies killed dead fatalities casualties gestorben starben verstorben tote toten todesfälle todesopfer morts décès
donation donations donated donate gift gifts spende spenden gespendet don dons
visitor visitors visits visit besucher besuche visiteurs attendance audience publikum besucherzahl
rent miete rents kaltmiete loyer
employee employees staff worker workers people person persons personnel colleague colleagues headcount mitarbeiter mitarbeiterin mitarbeiterinnen mitarbeitende mitarbeitenden angestellte angestellten beschäftigte beschäftigten personal leute personen kollege kollegen kollegin kolleginnen belegschaft workforce employé employés personne
customer customers client clients buyer buyers shopper kunde kunden kundin kundinnen
supplier suppliers vendor vendors lieferant lieferanten fournisseur
product products item items article articles goods produkt produkte artikel ware waren produit produits
order orders purchase purchases ordered bought buy bestellung bestellungen bestellt auftrag aufträge commande commandes transaction transactions sale sales verkauf verkäufe ventes vente
invoice invoices invoiced bill bills billed rechnung rechnungen facture factures
payment payments zahlung zahlungen paiement paid bezahlt
ticket tickets issue issues case cases request requests anfrage anfragen vorgang vorgänge meldung
respondent respondents participant participants response responses answer answers answered survey teilnehmer teilnehmerin teilnehmende befragte befragten antwort antworten umfrage people person persons personen leute
student students pupil pupils learner children schüler schülerin schülerinnen kinder élève élèves studierende studenten
member members mitglied mitglieder adhérent adhérents membre membres
donor donors spender
book books buch bücher
loan loans borrowed borrow checkout checkouts lent ausleihe ausleihen ausgeliehen entliehen prêt prêts emprunt emprunts
trip trips fahrt fahrten ride rides journey
property properties house houses home homes listing listings apartment apartments flat flats wohnung wohnungen haus häuser immobilie immobilien objekt objekte
match matches game games spiel spiele
team teams club mannschaft mannschaften verein
player players spieler
city cities town towns stadt städte ort orte ville villes
country countries nation nations land länder pays
region regions area territory gebiet région
store stores shop shops branch branches filiale filialen laden outlet outlets location locations site sites standort standorte magasin
department departments dept division abteilung abteilungen bereich team
category categories kategorie kategorien type types kind kinds group gruppe catégorie catégories warengruppe
position job jobs role roles stelle funktion beruf
manager managers boss supervisor leiter leitung vorgesetzter vorgesetzte
gender sex geschlecht genre
name names called heißt bezeichnung nom
email mail emails mails
phone telephone telefon telefonnummer mobile handy tel
salesperson seller rep representative agent verkäufer verkäuferin vertreter
event events veranstaltung ereignis ereignisse
entry reading readings measurement measurements messung messungen entries record records row rows line lines eintrag einträge zeile zeilen datensatz datensätze
date dates datum day tag
year years jahr jahre jahren année
month months monat monate mois
quarter quarters quartal quartale trimestre
week weeks woche wochen semaine
arrival arrivals arrive arrived ankunft angekommen anreise
hire start starts hired joined join started hiring employed einstellung eingestellt eintritt eingetreten embauche
birth born birthday geburt geboren geburtstag naissance
ship shipped shipping versand versendet verschickt
delivery delivered deliver lieferung geliefert lieferdatum livraison livré
due fällig fälligkeit
return returned returns retoure retouren zurückgegeben rücksendung zurückgeschickt
late delayed verspätet verspätung
open opened opens offen geöffnet pending
close closed resolved resolve geschlossen erledigt gelöst
cancel cancelled canceled storniert abgesagt
active aktiv
churn churned gekündigt
female women woman girls girl mädchen f w weiblich weibliche weiblichen frauen frau femme
male men man boys boy jungen m männlich männliche männlichen männer mann homme
fulltime vollzeit
parttime teilzeit
yes ja oui true
no nein non false
error errors fehler
warn warning warnings warnung warnungen
reorder minimum mindestbestand meldebestand meldemenge
comment comments kommentar kommentare
discount rabatt remise
tax vat mwst steuer ust tva
meter meters zähler zählerstand
`

// fillers carry no content in a question.
const fillers = `
the a an of in on at for to from with and is are was were be been being do does did has have had there that this these those it its our we us
i me my they their them you your he she his her him all any please tell give find let know can could would may might get got gets made make makes making
come came comes go went happen happened happening recorded listed registered reported measured given found data dataset datasets table tables file files folder
according based company firm business s t d re ve which what whose whom as into within during among across so then also just only whole entire everything
look see want need like currently current now far belong belongs located live lives lived living right work works working worked contain contains include includes including use
one ones own both exactly approximately about around roughly say says said documents sources figures numbers actually ever
take took taken place held received receive receives occur occurred seen observed count counted counts placed put
der die das den dem des ein eine einen einem einer eines und ist sind war waren wird wurde wurden werden sein hat haben hatte hatten gab gibt es im am auf aus bei mit von vom zu zum zur für
wir uns unser unsere unserer unserem unseren ich mir mich mein sie ihr ihre er sich man bitte nenne sage zeig alle aller allen alles als auch nur noch schon dabei denn davon dort hier
laut daten datei dateien tabelle tabellen firma unternehmen betrieb da dass diese dieser dieses diesem diesen bzw etwa ungefähr rund genau eigentlich derzeit aktuell momentan jeweils jeweilige
arbeiten arbeitet arbeiteten wohnen wohnt wohnten leben lebt lebten kommen kommt kamen liegen liegt lag lagen gehören gehört betrug beträgt betrugen betragen fiel fielen machen macht gemacht erzielt erzielten erzielte verzeichnet gemessen erfasst durchgeführt
geschrieben ausgestellt gestellt erstellt time zeit body written issued generates published erschienen veröffentlicht cause caused causes verursacht verursachten verursachte fell fallen fall gefallen brought bring brings takes attended attend attends logged log stored store ran run runs scored booked brauchen braucht brauchte benötigen benötigt gelaufen gespielt gearbeitet geleistet gebucht verbucht genutzt gelagert eingelagert eingenommen erwirtschaftet getankt gave gives giving altogether done spread brachte brachten gaben gegeben bekam bekamen bekommen erhielt erhielten getting ended end ends served serve serves asking still level score figure results result e hit bringt bringen moment zahl nutzen nutzt nutzten
habe hast hattest bin bist seid wäre gewesen geworden worden würdet könnte könnten kann können darf dürfen muss müssen musste mussten etwas mal überhaupt wohl eben bislang bisher gerade sonst jemand welch jene jener jenes solche dein deine euer eure deren dessen ihrem ihren ihres ihrer seine seinen seiner dich dir euch euren
statt stattfand stattfanden stattgefunden während someone anyone something anything shall himself herself themselves ourselves thing things
findet fand finden fanden handled handles handle processed dealt carried transported bearbeitet jemals wirklich steht stehen stand befinden befindet aufgegeben eingegangen eingegangene hoch groß
dr mr mrs ms miss prof herr herrn nehmen nimmt nahmen einnehmen existed exist exists offer offers offered keep keeps kept hold holds shown showed shows stood stands sit sits host hosts hosted raised raise raises gathered collected collect
entered welcomed amounted amounts totalled ours kind sort sorts overall really exact precise simply
angemeldet gemeldet eingetragen standen zusammengekommen gesammelt eingebracht reingekommen hereingekommen ergeben ergab ergaben verzeichneten anfallen angefallen fällt anbieten angeboten bieten
aber
et le la les du de un une est sont dans en au aux pour par sur
`

// owners name whose data it is: "the museum", "our shop"; after a column or a value they state its kind: "home team".
const owners = `
field column box cell spalte feld zelle
diary list sheet spreadsheet register ledger records notebook calendar books system kalender liste verzeichnis aufzeichnungen
museum school hotel bakery bank library gym club restaurant café shop store city town village hospital clinic university farm charity foundation association organisation organization
amount amounts value values wert werte reading readings betrag membership memberships plan subscription package contract policy tier model version edition room station stop line ticket calls call builds build orders payments bookings trips rides sales purchases
mitgliedschaft mitgliedschaften tarif abo paket vertrag zimmer haltestelle linie sorte modell anrufe buchungen zahlungen fahrten
address adresse number nummer cost costs kosten bill office team group household family airline plant factory warehouse department branch district region log report survey year season
theatre theater cinema zoo pool campsite park winery brewery vineyard startup ngo parish church kindergarten nursery orchard garden stable dairy workshop agency council municipality county organiser shelter studio race competition tournament league campaign project festival event conference experiment study course exam test harvest election
marathon meet rally regatta cup championship canteen cafeteria kitchen mensa kantine küche anlage solaranlage photovoltaikanlage pvanlage panels array fleet depot laboratory lab salon surgery orchestra choir
cupboard cabinet freezer fridge larder pantry cellar website site webshop portal app
freibad schwimmbad kino campingplatz weingut brauerei kita gärtnerei werkstatt agentur amt kirche landkreis tierheim hofladen molkerei imkerei fitnessstudio rennen lauf turnier wettbewerb liga kampagne projekt fest konferenz studie kurs prüfung ernte wahl
verein stadt gemeinde schule bäckerei werk bibliothek klinik praxis laden geschäft hof haushalt abteilung filiale jahr saison standort büro
`

// deeds say what was done with a number that the question names. For rows that are counted,
// they may say which rows, so they are not small words there.
const deeds = `
sold verkauft spend spent spends produce produced produces producing charge charged chosen choose picked used uses consumed consume generated people leute menschen gewählt produziert verbraucht geerntet erzeugt erzeugte erzeugten earn earned verdient gelassen money geld
`

// grammarWords are the words that form a question. Each line has a kind, an argument and a
// concept, then the phrases, separated by bars.
const grammarWords = `
ask many - how many|on how many|in how many|at how many|wie vielen|an wie vielen|in wie vielen|bei wie vielen|number of|the number of|count of|wie viele|wieviele|anzahl der|anzahl an|anzahl von|die anzahl|anzahl|zahl der|combien de
ask people - how many people|how many persons|wie viele menschen|wie viele personen|wie viele leute
ask times - how many times|how often|wie oft|wie häufig
ask much - wie ist|wie sind|wie war|wie waren|how much|wie viel|wieviel|wie hoch|how high|how large|how big|how low|wie groß|how strong|wie stark
ask much age how old|wie alt
ask much weight how heavy|wie schwer
ask much height how tall
ask much length how long|wie lang|wie lange
ask much distance how far|wie weit
ask much temperature how hot|how cold|how warm|wie warm|wie kalt|wie heiß
ask much satisfaction how satisfied|how happy|wie zufrieden|wie glücklich
ask much price how expensive|wie teuer
ask which - at what|which|what|welche|welcher|welches|welchen|welchem|quel|quelle|was|wie lautet|wie lauten|wie heißt|in which|in what|at which|whose
ask who - who|wer|whom|wem|wen
ask when - when|wann|on which date|on what date|at what time|zu welchem zeitpunkt
ask where - where|wo
ask list - list|list all|show|show me|name|nenne|nenn|zeige|zeig|display|liste|print
ask change - how did|how has|how have|wie hat sich|wie haben sich|wie hat|wie haben|wie entwickelte sich|wie entwickelten sich
agg sum - total|totals|the total|sum|sum of|the sum of|in total|overall|altogether|all together|in all|combined|cumulative|cumulated|insgesamt|gesamt|gesamte|gesamten|gesamter|gesamtes|summe|die summe|in summe|zusammen|totalled|total amount of|total number of|gesamtzahl|totale|add up to|adds up to|added up to|sum up to|come to in total|summieren sich|belaufen sich|summed up
agg avg - average|averages|averaged|mean|avg|on average|the average|arithmetic mean|durchschnitt|durchschnittlich|durchschnittliche|durchschnittlichen|durchschnittlicher|durchschnittliches|im schnitt|im durchschnitt|schnitt|mittel|mittlere|mittlerer|mittleren|mittleres|im mittel|mittelwert|moyenne|moyen
agg median - median|the median|im median|mediane|medianwert
agg share - share|the share|percentage|the percentage|percent|percent of|per cent|proportion|fraction|anteil|der anteil|prozent|prozentsatz|prozentualer|prozentuale|%|what percentage|what percent|wie viel prozent|wieviel prozent
agg distinct - different|distinct|unique|verschiedene|verschiedenen|verschiedener|unterschiedliche|unterschiedlichen|unterschiedlicher|eindeutige|eindeutigen
sup desc - largest single|biggest single|highest single|single largest|single biggest|single highest|höchste einzelne|größte einzelne|highest|most|the most|largest|biggest|greatest|maximum|max|top|peak|peaked|peaks|strongest|leading|main|höchste|höchsten|höchster|höchstes|meiste|meisten|am meisten|größte|größten|größter|größtes|am höchsten|am größten|maximal|maximale|maximaler|stärkste|stärksten|highest ever|the highest|maxima|maximum of
sup desc - best|beste|besten|bester|bestes
sup asc - worst|schlechteste|schlechtesten
sup asc - lowest|least|the least|smallest|fewest|the fewest|minimum|min|niedrigste|niedrigsten|niedrigster|niedrigstes|geringste|geringsten|kleinste|kleinsten|kleinster|wenigsten|am wenigsten|am niedrigsten|am geringsten|tiefste|tiefsten|minimal|minimale
sup desc age oldest|eldest|älteste|ältesten|ältester|am ältesten
sup asc age youngest|jüngste|jüngsten|jüngster|am jüngsten
sup desc weight heaviest|schwerste|schwersten|schwerster
sup asc weight lightest|leichteste|leichtesten|leichtester
sup desc height tallest
sup desc death deadliest|most deadly|tödlichste|tödlichsten|tödlichster
sup desc length longest|längste|längsten|längster
sup asc length shortest|kürzeste|kürzesten|kürzester
sup desc price most expensive|the most expensive|priciest|dearest|costliest|most costly|teuerste|teuersten|teuerster|teuerstes|am teuersten
sup asc price cheapest|least expensive|the least expensive|billigste|billigsten|günstigste|günstigsten|günstigster|am günstigsten|am billigsten|preiswerteste
sup desc date latest|newest|most recent|most recently|neueste|neuesten|neuester|jüngstes|last|letzte|letzten|letzter|zuletzt
sup asc date earliest|first|erste|ersten|erster|früheste|frühesten|frühester|zuerst
sup desc temperature hottest|warmest|heißeste|heißesten|wärmste|wärmsten|wärmster|am wärmsten|am heißesten
sup asc temperature coldest|kälteste|kältesten|kältester|am kältesten|coolest
sup desc rain wettest|rainiest|nasseste|regenreichste|regenreichsten
sup asc rain driest|trockenste|trockensten
sup desc salary highest paid|best paid|highest earning|top earner|bestbezahlte|bestbezahlten|earns the most|earn the most|verdient am meisten|verdienen am meisten
sup asc salary lowest paid|earns the least|verdient am wenigsten
sup desc quantity sells best|sell best|sold best|sells the most|verkauft sich am besten|verkaufte sich am besten|best selling|bestselling|bestseller|best seller|best sellers|top selling|most sold|sold most|sold the most|meistverkaufte|meistverkauften|meistverkaufter|meistverkauftes|am meisten verkauft|am häufigsten verkauft
sup asc hire worked here the longest|worked here longest|been here longest|been employed the longest|been employed longest|am längsten hier|am längsten beschäftigt|am längsten angestellt|longest standing|been a member the longest|been a member longest|member the longest|am längsten mitglied|längste mitgliedschaft|been with the company the longest|been here the longest|been working here the longest|been working here longest|worked for us the longest|worked for us longest|been working for us the longest|been working for us longest|worked here for the longest|been at the company the longest|been employed here the longest|longest serving|with us longest|been with us longest|with us the longest|been with us the longest|am längsten dabei|am längsten im unternehmen|am längsten bei uns|dienstälteste|dienstältester
sup desc hire been with the company the shortest|shortest serving|am kürzesten dabei
sup desc rows most common|most frequent|most popular|most often|most frequently|busiest|häufigste|häufigsten|häufigster|häufigstes|am häufigsten|beliebteste|beliebtesten|most commonly
sup asc rows least common|rarest|least often|least frequent|seltenste|seltensten|am seltensten
trend any - over time|trend|trends|over the years|over the months|im zeitverlauf|im laufe der zeit|über die zeit|zeitlicher verlauf|verlauf|development|entwicklung|developed|develop|entwickelt|evolve|evolved|trending
trend change - change|changed|changes|changing|verändert|veränderung|geändert|veränderte|veränderten|shift|shifted
trend up - grow|grew|grown|growth|increase|increased|rise|rose|risen|climb|climbed|gewachsen|wuchs|wachstum|gestiegen|stieg|stiegen|zugenommen|zunahme|anstieg|zuwachs|gone up|go up|went up
trend down - decrease|decreased|fall|fell|fallen|drop|dropped|decline|declined|shrink|shrank|gesunken|sank|sanken|abgenommen|abnahme|rückgang|gefallen|zurückgegangen|gone down|go down|went down
by - - by|per|for each|each|for every|every|in each|of each|je|pro|nach|aufgeschlüsselt nach|broken down by|grouped by|split by|jeder|jede|jedes|jedem|jeden|für jede|für jeden|für jedes|in jedem|in jeder|across each|par
not - - anything but|everything but|all but|not|except|excluding|except for|other than|apart from|outside|outside of|nicht|außer|außerhalb|ohne die|isn|aren|wasn|weren|didn|doesn|don|hasn|haven|never|nie
fill - - ended up|came back as|come back as|ended up as|set us back|set me back|set them back|come in|came in|coming in|given us|gave us|in the diary|have we got|do we have|are there|were there|on record|on file|on the books|in the books|on our books
missing - - didn t leave|did not leave|didn t give|did not give|didn t provide|did not provide|didn t enter|did not enter|didn t fill in|did not fill in|didn t answer|did not answer|left no|gave no|no|without|without an|without a|missing|lack|lacks|lacking|empty|blank|fehlt|fehlen|fehlende|fehlenden|fehlendem|ohne|kein|keine|keinen|leer|leere|not given|not recorded|not known|unknown|no value|nicht angegeben|keine angabe|have no|has no|do not have|don t have|does not have|unbekannt
fill - - show up|shows up|showed up|turn up|turned up|run out|runs out|ran out|läuft aus|going by|judging by|based on|measured by|in terms of|gemessen an|over all|across all|über alle|über sämtliche|tied up|came in|brought in|racked up|put together|over the counter|went over the counter|über die theke|über den ladentisch|so far|to date|at all|in the data|in our data|as a whole|how is|how are|how was|how were|came out|come out|took part|take part|took place|takes place|taken place
none stock - out of stock|sold out|ausverkauft|nicht auf lager|nicht vorrätig
cmp > - by more than|by over|um mehr als|rose above|risen above|rises above|went above|went over|goes over|goes above|climbed above|gone over|gone above|came to more than|gestiegen über|over|above|more than|greater than|higher than|larger than|bigger than|exceed|exceeds|exceeded|exceeding|beyond|mehr als|über|größer als|höher als|oberhalb von|greater|übersteigt|übersteigen
cmp < - by less than|um weniger als|dropped below|drops below|fallen below|fell below|falls below|gone below|went below|sunk below|run below|dropped under|fallen under|fell under|gesunken unter|under|below|less than|fewer than|lower than|smaller than|weniger als|unter|kleiner als|niedriger als|geringer als|unterhalb von|beneath|unterschreiten|unterschreitet
cmp >= - at least|no less than|minimum of|or more|or above|or higher|mindestens|wenigstens|not less than|und mehr|oder mehr
cmp <= - at most|no more than|up to|or less|or fewer|or below|maximum of|höchstens|bis zu|not more than|oder weniger
cmp = - equal to|equals|gleich|scored exactly|genau
cmp > age older than|aged over|älter als
cmp < age younger than|aged under|jünger als
cmp > weight heavier than|schwerer als
cmp < weight lighter than|leichter als
cmp > length longer than|länger als
cmp < length shorter than|kürzer als
cmp > height taller than
cmp > price more expensive than|pricier than|teurer als
cmp < price cheaper than|billiger als|günstiger als
cmp > temperature hotter than|warmer than|wärmer als
cmp < temperature colder than|cooler than|kälter als
bound since - since the start of|since the beginning of|since|starting|from the start of|from the beginning of|seit anfang|seit beginn|seit|ab
bound before - before the start of|before the beginning of|vor beginn|before|prior to|earlier than|vor
bound after - after|later than|following|nach dem|nach dem jahr
bound until - until|till|through|up until|by the end of|bis|bis zum|bis ende
bound between - between|zwischen
bound from - from|von|vom|ranging from
bound to - to|zu|auf
join and - and|und|as well as|sowie|et
join or - or|oder|ou
join than - than|als|que
more desc - more|mehr|higher|höher|höhere|höheren|larger|größer|bigger|greater
more asc - less|fewer|lower|weniger|niedriger|geringer|smaller|kleiner
more desc temperature warmer|wärmer|hotter|heißer
more asc temperature colder|cooler|kälter
more desc price more expensive|teurer|pricier
more asc price cheaper|billiger|günstiger
more desc weight heavier|schwerer
more asc weight lighter|leichter
more desc length longer|länger
more asc length shorter|kürzer
versus - - im vergleich|vergleich|vergleich von|vergleich zwischen|comparison|comparison of|comparison between|vs|versus|compared to|compared with|compare|comparing|gegenüber|verglichen mit|im vergleich zu|vergleiche|in comparison to|against
diff - - difference|the difference|difference between|gap|gap between|how much more|how many more|how much higher|how much less|how much lower|how many fewer|how much larger|how much bigger|unterschied|differenz|wie viel mehr|wie viel höher|wie viele mehr|wie viel weniger|wieviel mehr|um wie viel|um wieviel|by how much|how much cheaper|by how many percent|how many percent|by what percentage|by what percent|um wie viel prozent|um wieviel prozent|um wie viele prozent
whole - - over the whole year|over the entire year|over the full year|over the year|for the whole year|for the year|in the whole year|across the year|throughout the year|during the year|all year|the whole year|über das ganze jahr|über das jahr|im ganzen jahr|im gesamten jahr|das ganze jahr|im laufe des jahres|of the year|des jahres|of that year
unit year - year|years|yearly|annual|annually|per year|jahr|jahre|jahren|jahres|jährlich|jährliche|jährlichen|jährlicher|année
unit quarter - quarter|quarters|quarterly|quartal|quartals|quartale|quartalsweise|trimestre
unit month - month|months|monthly|monat|monate|monaten|monats|monatlich|monatliche|monatlichen|monatlicher|mois
unit week - week|weeks|weekly|woche|wochen|wöchentlich
unit weekday - weekday|day of the week|weekdays|wochentag|wochentage|wochentagen
unit day - day|days|daily|date|tag|tage|tagen|tages|täglich|tägliche|täglichen|täglicher|datum|single day|jour
unit hour - time of day|what time of day|tageszeit|hours of the day|hour|hour of the day|uhrzeit|hourly|stunde
never - - in a row|in succession|consecutive|consecutively|in einer reihe|hintereinander|aufeinanderfolgende|aufeinanderfolgenden|why|reason|reasons|what caused|what causes|the cause|the causes|cause of|causes of|because|warum|weshalb|wieso|grund|gründe|ursache|ursachen|forecast|forecasts|predict|prediction|predicted|projected|will|next year|next month|next quarter|next week|tomorrow|future|should|recommended|suggest|strategy|opinion|think|how can|how could|how to|how should|prognose|vorhersage|vorhersagen|voraussichtlich|nächstes jahr|nächsten monat|nächsten jahr|nächstes quartal|kommenden|kommendes|zukunft|zukünftig|sollte|sollten|soll|sollen|empfehlen|empfehlung|impact|effect|affect|affected|influence|influences|correlate|correlated|correlation|relationship|zusammenhang|korrelation|einfluss|auswirkung|auswirkungen|likely|wahrscheinlich|explain|erkläre|better|besser|improve|verbessern|last year|this year|last month|this month|last week|this week|yesterday|today|letztes jahr|dieses jahr|letzten monat|diesen monat|heute|gestern|letzte woche|per capita|pro kopf|correlates|competitor|competitors|konkurrenz|wettbewerber
`

// Kind is the role of a piece of a question.
type Kind string

// The kinds of pieces.
const (
	KindFill    Kind = "fill"
	KindUnknown Kind = "unknown"
	KindAsk     Kind = "ask"
	KindAgg     Kind = "agg"
	KindWhole   Kind = "whole"
	KindSup     Kind = "sup"
	KindTrend   Kind = "trend"
	KindBy      Kind = "by"
	KindNot     Kind = "not"
	KindMissing Kind = "missing"
	KindCmp     Kind = "cmp"
	KindBound   Kind = "bound"
	KindJoin    Kind = "join"
	KindVersus  Kind = "versus"
	KindMore    Kind = "more"
	KindNone    Kind = "none"
	KindDiff    Kind = "diff"
	KindUnit    Kind = "unit"
	KindNever   Kind = "never"
	KindTime    Kind = "time"
	KindNum     Kind = "num"
	KindField   Kind = "field"
	KindValue   Kind = "value"
	KindEntity  Kind = "entity"
)

// DefaultLexicon returns the lexicon of the word lists, which are read once.
var DefaultLexicon = sync.OnceValue(func() *Lexicon {
	l := &Lexicon{Concepts: map[string][]string{}, Fillers: Folded(fillers), Owners: Folded(owners), ActionVerbs: Folded(deeds), Phrases: map[string][]Phrase{}}
	for line := range strings.Lines(sameWords) {
		ws := strings.Fields(line)
		for _, w := range ws {
			s, id := Stem(Fold(w)), Stem(Fold(ws[0]))
			if !slices.Contains(l.Concepts[s], id) {
				l.Concepts[s] = append(l.Concepts[s], id)
			}
		}
	}
	for line := range strings.Lines(grammarWords) {
		l.addPhrases(strings.TrimSpace(line))
	}
	for _, ps := range l.Phrases {
		slices.SortStableFunc(ps, func(a, b Phrase) int { return len(b.Words) - len(a.Words) })
	}
	return l
})

func (l *Lexicon) addPhrases(line string) {
	head := strings.SplitN(line, " ", 4)
	if len(head) < 4 {
		return
	}
	arg, about := strings.Trim(head[1], "-"), strings.Trim(head[2], "-")
	for _, p := range strings.Split(head[3], "|") {
		var ws []string
		for _, w := range strings.Fields(p) {
			ws = append(ws, Fold(w))
		}
		l.Phrases[ws[0]] = append(l.Phrases[ws[0]], Phrase{Words: ws, Kind: Kind(head[0]), Arg: arg, About: about})
	}
}

// Shared reports whether two stems share a concept.
func (l *Lexicon) Shared(a, b string) bool {
	return slices.ContainsFunc(l.Concepts[a], func(c string) bool { return slices.Contains(l.Concepts[b], c) })
}

// Means reports whether a stem has the concept that a word names.
func (l *Lexicon) Means(stemmed, concept string) bool {
	return slices.Contains(l.Concepts[stemmed], Stem(concept))
}

// umlauts replaces the two-letter spellings of umlauts.
var umlauts = strings.NewReplacer("ae", "a", "oe", "o", "ue", "u")

// Fold returns a word in lower case without accents; ä and ae become the same. A literal that is compared with a folded
// word must be folded too: "tusday", "tru", "valu".
func Fold(w string) string {
	var b strings.Builder
	for _, r := range strings.ToLower(w) {
		switch r {
		case 'ä', 'à', 'á', 'â', 'ã':
			r = 'a'
		case 'ö', 'ó', 'ô', 'ò', 'õ':
			r = 'o'
		case 'ü', 'ú', 'û', 'ù':
			r = 'u'
		case 'é', 'è', 'ê', 'ë':
			r = 'e'
		case 'í', 'î', 'ï':
			r = 'i'
		case 'ç':
			r = 'c'
		case 'ñ':
			r = 'n'
		case 'ß':
			b.WriteString("ss")
			continue
		}
		b.WriteRune(r)
	}
	s := b.String()
	if len(s) > 3 {
		s = umlauts.Replace(s)
	}
	return s
}

// Stem removes the most common endings of English and German nouns and adjectives from a
// folded word: orders and order both become ord.
func Stem(w string) string {
	for range 3 {
		cut := cutEnding(w)
		if cut == w {
			break
		}
		w = cut
	}
	return w
}

func cutEnding(w string) string {
	if len(w) > 4 && strings.HasSuffix(w, "ies") {
		return w[:len(w)-3] + "i"
	}
	if len(w) > 3 && w[len(w)-1] == 'y' {
		return w[:len(w)-1] + "i"
	}
	if w == "summer" || strings.HasSuffix(w, "ss") || strings.ContainsFunc(w, unicode.IsDigit) {
		return w
	}
	for _, end := range []string{"innen", "ern", "es", "en", "em", "er", "e", "s"} {
		if len(w) >= len(end)+4 && strings.HasSuffix(w, end) || end == "s" && len(w) == 4 && w[3] == 's' {
			return strings.TrimSuffix(w, end)
		}
	}
	return w
}
