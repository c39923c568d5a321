// The federation, as this site sees it: where the sites are, what goes between
// them and this one, who lags, who is away. Hidden where there is none. Rates are
// differences of counters over the last looks.
import {byId, el, joined, setText, svg} from './dom.js';
import * as format from './format.js';
import {ASPECT, landPath, project} from './world.js';

const WINDOW = 10 * 1000;  // Over so long a rate is taken.
const COUNTERS = ['sent_urls', 'sent_bytes', 'sent_page_bytes',
  'received_urls', 'received_bytes', 'received_page_bytes'];

let looks = new Map();  // Site's name -> [{time, its counters}].
let shown = null;       // The last answer's sites, with `is` and rates.
let reading = null;     // The name of the site that the pointer is at.

// What it is to a person: a member that is not heard of is away.
function kindOf(site) {
  return site.state === 'member' && !site.is_self && !site.alive ? 'away' : site.state;
}

function rateOf(name, key) {
  const of = looks.get(name) ?? [];
  const first = of[0], last = of[of.length - 1];
  if (!first || last.time - first.time < 1000) return null;
  return 1000 * (last[key] - first[key]) / (last.time - first.time);
}

const NO_RATES = {sent_urls: null, sent_bytes: null, received_urls: null, received_bytes: null};

// Bytes with those of pages that move: the line carries both.
function ratesOf(name) {
  const of = Object.fromEntries(COUNTERS.map((key) => [key, rateOf(name, key)]));
  if (of.sent_urls === null) return NO_RATES;
  return {sent_urls: of.sent_urls, sent_bytes: of.sent_bytes + of.sent_page_bytes,
    received_urls: of.received_urls, received_bytes: of.received_bytes + of.received_page_bytes};
}

function remember(sites, time) {
  const next = new Map();
  for (const site of sites) {
    let of = looks.get(site.name) ?? [];
    const last = of[of.length - 1];
    // A site that began anew counts from nothing.
    if (last && COUNTERS.some((key) => (site[key] ?? 0) < last[key])) of = [];
    of.push({time, ...Object.fromEntries(COUNTERS.map((key) => [key, site[key] ?? 0]))});
    while (of.length > 2 && of[1].time <= time - WINDOW) of.shift();
    next.set(site.name, of);
  }
  looks = next;
}

export function showFederation(answer) {
  const federation = answer?.federation ?? null;
  byId('federation').hidden = federation === null;
  if (federation === null) {
    looks = new Map();
    shown = null;
    return;
  }
  remember(federation.sites, performance.now());
  shown = {...federation, sites: federation.sites.map((site) => ({
    ...site, is: kindOf(site), lag: site.epoch > 0 ? Math.max(0, federation.epoch - site.epoch) : null,
    rates: site.is_self || site.state === 'invited' ? NO_RATES : ratesOf(site.name)}))};
  showHead(shown);
  showHandOff(shown);
  showTable(shown.sites);
  draw();
}

function showHead(federation) {
  const pill = byId('federation-state');
  pill.dataset.state = federation.paused ? 'paused' : federation.quiet ? 'quiet' : 'running';
  setText(pill, federation.paused ? 'Paused' : federation.quiet ? 'Quiet' : 'Working',
    federation.paused ? 'No site begins a round.'
      : federation.quiet ? 'All sites are idle, and nothing is under way between them.'
        : 'Some site has work, or something is under way between sites.');
  setText('federation-epoch', joined(`epoch ${format.number(federation.epoch)}`,
    federation.term > 1 ? `term ${format.number(federation.term)}` : '',
    federation.registrar ? `registrar ${federation.registrar}` : 'map in a file',
    `exchanges ${federation.exchange}`));
  const away = federation.sites.filter((site) => site.is === 'away').map((site) => site.name);
  const problems = [
    federation.error,
    federation.registrar && !federation.registrar_reachable
      ? `The registrar ${federation.registrar} is not reached: sites crawl on, but the map cannot be changed.` : '',
    away.length > 0 ? `${away.join(', ')} ${away.length > 1 ? 'are' : 'is'} away: what is for ` +
      `${away.length > 1 ? 'them' : 'it'} waits in the outbox.` : ''];
  const place = byId('federation-problems');
  const texts = problems.filter((text) => text);
  if (place.dataset.key === JSON.stringify(texts)) return;
  place.dataset.key = JSON.stringify(texts);
  place.replaceChildren(...texts.map((text, i) =>
    el('p', {class: 'banner', 'data-kind': text === federation.error && i === 0 ? 'error' : 'warning'}, el('span', {}, text))));
}

function showHandOff(federation) {
  const handing = federation.handing_off;
  byId('hand-off').hidden = !handing;
  if (!handing) return;
  const active = federation.sites.filter((site) => site.state !== 'invited');
  const done = handing.sites_done ?? [];
  const bar = byId('hand-off-progress');
  bar.max = Math.max(1, active.length);
  bar.value = done.length;
  setText('hand-off-text', `Channels move for epoch ${format.number(handing.epoch)}: ` +
    `${format.number(done.length)} of ${format.number(active.length)} sites are done` +
    (done.length > 0 ? ` (${done.join(', ')})` : ''));
  setText('hand-off-left', handing.pages_left > 0 ? `${format.number(handing.pages_left)} pages left at all sites` : 'no pages left');
}

// --- The table --------------------------------------------------------------

const perSecond = (urls, bytes) => urls === null ? ['–', '']
  : [`${format.rate(urls)} URLs/s`, `${format.bytes(bytes)}/s`];
const inAll = (site, urls, bytes, pages, pageBytes) => site.is_self ? ''
  : `${format.number(urls)} URLs, ${format.number(bytes)} bytes in all` +
    (pages > 0 ? `; ${format.number(pages)} pages moved, ${format.number(pageBytes)} bytes` : '');
const STATE_WORDS = {member: 'member', leaving: 'leaving', invited: 'invited', away: 'away'};

// Name, what it means, and of a site its text, its second line, its exact value.
const COLUMNS = [
  ['State', null, (site) => [STATE_WORDS[site.is] ?? site.is]],
  ['Epoch', 'of the map that it has', (site) => [site.epoch > 0 ? format.number(site.epoch) : '–']],
  ['Lag', 'epochs behind this site’s map', (site) => [format.number(site.lag)]],
  ['Pages', 'that it knows', (site) => [format.number(site.pages)]],
  ['Frontier', 'pages ready to be fetched', (site) => [format.number(site.frontier)]],
  ['Pages/s', 'its load', (site) => [format.rate(site.pages_per_second)]],
  ['Outbox', 'URLs that wait here for it', (site) => [site.is_self ? '–' : format.number(site.outbox)]],
  ['Sent', 'from here to it', (site) => perSecond(site.rates.sent_urls, site.rates.sent_bytes),
    (site) => inAll(site, site.sent_urls, site.sent_bytes, site.sent_pages, site.sent_page_bytes)],
  ['Received', 'from it', (site) => perSecond(site.rates.received_urls, site.rates.received_bytes),
    (site) => inAll(site, site.received_urls, site.received_bytes, site.received_pages, site.received_page_bytes)],
  ['Round trip', null, (site) => [site.is_self ? '–' : format.duration(site.round_trip_seconds)]],
  ['Last heard', null, (site) => [site.is_self ? 'here' : unknown(site.last_heard_seconds) ? 'never'
    : site.last_heard_seconds < 5 ? 'now' : `${format.duration(site.last_heard_seconds)} ago`]],
];
const unknown = (value) => value === null || value === undefined;

function newRow(name) {
  return el('tr', {'data-site': name},
    el('th', {scope: 'row'}, el('span', {class: 'site-dot', 'aria-hidden': 'true'}), el('span', {class: 'site-name'}),
      el('span', {class: 'sub'})),
    ...COLUMNS.map(([label]) => el('td', {class: label === 'State' ? '' : 'number', 'data-label': label},
      el('span', {}), el('span', {class: 'sub'}))));
}

// Rows stay where they are, so that a selection does.
function showTable(sites) {
  const body = byId('federation-sites');
  const names = JSON.stringify(sites.map((site) => site.name));
  if (body.dataset.names !== names) {
    body.dataset.names = names;
    body.replaceChildren(...sites.map((site) => newRow(site.name)));
  }
  sites.forEach((site, i) => {
    const row = body.children[i];
    row.dataset.is = site.is;
    row.dataset.lags = String(site.lag > 0);
    const [, name, note] = row.children[0].children;
    setText(name, site.name, site.address ? `${site.name}, ${site.address}` : site.name);
    setText(note, joined(site.is_self ? 'this site' : '', site.name === shown.registrar ? 'registrar' : '',
      site.capacity > 1 ? `capacity ${format.number(site.capacity)}` : ''));
    COLUMNS.forEach(([, , texts, exact], c) => {
      const cell = row.children[c + 1];
      const [text, second] = texts(site);
      setText(cell.children[0], text);
      setText(cell.children[1], second ?? '');
      const title = exact?.(site) ?? '';
      if (cell.title !== title) cell.title = title;
    });
  });
}

export function startFederation() {
  byId('federation-columns').append(el('th', {scope: 'col'}, 'Site'), ...COLUMNS.map(([name, title]) =>
    el('th', {scope: 'col', class: name === 'State' ? '' : 'number', title}, name)));
  new ResizeObserver(draw).observe(byId('world'));
}

// --- The map ----------------------------------------------------------------

// Where the dots are, in pixels; those of one place are put side by side.
function placesOf(sites, width) {
  const places = [];
  for (const site of sites) {
    if (!Array.isArray(site.location)) continue;
    let [x, y] = project(site.location[0], site.location[1]).map((of) => of * width);
    for (let turn = 0; turn < 24 && places.some((other) => Math.hypot(other.x - x, other.y - y) < 9); ++turn) {
      x += 10 * Math.cos(turn * 2.4);
      y += 10 * Math.sin(turn * 2.4);
    }
    places.push({site, x: Math.min(Math.max(x, 8), width - 8), y: Math.min(Math.max(y, 8), width / ASPECT - 8)});
  }
  return places;
}

const LABEL = 15;  // A line of text.

// Names beside their dots, on the side that has room, not over each other nor over
// other dots.
function placeLabels(places, self, width, measure) {
  const taken = places.map((place) => ({left: place.x - 6, right: place.x + 6, top: place.y - 6, bottom: place.y + 6}));
  const isFree = (box) => box.left >= 0 && box.right <= width && box.top >= 0 && box.bottom <= width / ASPECT &&
    !taken.some((other) => box.left < other.right && box.right > other.left && box.top < other.bottom && box.bottom > other.top);
  for (const place of places) {
    const size = measure(place.site.name);
    const [right, left] = [[10, 0], [-10 - size, 0]];
    // Away from the line that leads to this site.
    const choices = [...(self && place.x < self.x ? [left, right] : [right, left]),
      [-size / 2, -15], [-size / 2, 15], [10, -11], [10, 11], [-10 - size, -11], [-10 - size, 11]];
    const boxes = choices.map(([dx, dy]) => ({left: place.x + dx, right: place.x + dx + size,
      top: place.y + dy - LABEL / 2, bottom: place.y + dy + LABEL / 2}));
    const box = boxes.find(isFree);
    if (!box) continue;  // The table and the tooltip have it.
    taken.push(box);
    place.label = {x: box.left, y: (box.top + box.bottom) / 2 + 4};
  }
}

// A bow above the straight line, so that lines of neighbours do not cover each other.
function bow(from, to) {
  const lift = Math.min(60, 0.22 * Math.hypot(to.x - from.x, to.y - from.y));
  const [x, y] = [(from.x + to.x) / 2, Math.max(4, (from.y + to.y) / 2 - lift)];
  return `M${from.x.toFixed(1)} ${from.y.toFixed(1)}Q${x.toFixed(1)} ${y.toFixed(1)} ${to.x.toFixed(1)} ${to.y.toFixed(1)}`;
}

// "To lima 120 URLs/s, 14 KB/s; from it ...".
function traffic(site) {
  if (site.is_self) return joined(`${site.name}: this site`, `${format.rate(site.pages_per_second)} pages/s`);
  const said = (urls, bytes) => urls === null ? '–' : `${format.rate(urls)} URLs/s, ${format.bytes(bytes)}/s`;
  return joined(`${site.name}: ${STATE_WORDS[site.is] ?? site.is}`,
    `to it ${said(site.rates.sent_urls, site.rates.sent_bytes)}`,
    `from it ${said(site.rates.received_urls, site.rates.received_bytes)}`,
    unknown(site.round_trip_seconds) ? '' : `round trip ${format.duration(site.round_trip_seconds)}`);
}

// Thicker by tens: 1 URL/s is a hair, 10,000 a rope.
function thickness(site) {
  const urls = (site.rates.sent_urls ?? 0) + (site.rates.received_urls ?? 0);
  return urls > 0 ? Math.min(5, 1 + Math.log10(1 + urls)) : 1;
}

let land = {width: 0, path: null};

function draw() {
  const area = byId('world');
  const width = area.clientWidth;
  if (!shown || width === 0) return;
  if (land.width !== width) land = {width, path: svg('path', {class: 'land', d: landPath(width), 'fill-rule': 'evenodd'})};
  const height = width / ASPECT;
  const places = placesOf(shown.sites, width);
  const self = places.find((place) => place.site.is_self);
  const picture = svg('svg', {width, height: height.toFixed(0), viewBox: `0 0 ${width} ${height.toFixed(1)}`, 'aria-hidden': 'true'});
  picture.append(land.path);
  for (const to of places) {
    if (!self || to === self || to.site.is === 'invited') continue;
    const d = bow(self, to);
    picture.append(svg('path', {class: 'link', d, 'data-is': to.site.is, 'stroke-width': thickness(to.site).toFixed(1)}));
    const wide = svg('path', {class: 'reach', d, 'data-site': to.site.name});
    wide.append(svg('title', {}, traffic(to.site)));
    picture.append(wide);
  }
  const pen = area.ownerDocument.createElement('canvas').getContext('2d');
  pen.font = '600 12px system-ui, sans-serif';
  const most = width < 500 ? 12 : 20;
  const short = (name) => name.length > most ? `${name.slice(0, most - 1)}…` : name;
  placeLabels(places, self, width, (name) => pen.measureText(short(name)).width + 4);
  for (const place of places) {
    const group = svg('g', {class: 'place', 'data-is': place.site.is, 'data-site': place.site.name});
    if (place.site.is_self) group.append(svg('circle', {class: 'halo', cx: place.x, cy: place.y, r: 9}));
    group.append(svg('circle', {class: 'spot', cx: place.x, cy: place.y, r: 5}));
    if (place.label) group.append(svg('text', {x: place.label.x, y: place.label.y}, short(place.site.name)));
    group.append(svg('title', {}, traffic(place.site)));
    picture.append(group);
  }
  for (const one of picture.querySelectorAll('[data-site]')) {
    one.addEventListener('pointerenter', () => read(one.dataset.site));
    one.addEventListener('pointerleave', () => read(null));
    one.addEventListener('pointerdown', () => read(one.dataset.site));
  }
  area.replaceChildren(picture);
  const lost = shown.sites.filter((site) => !Array.isArray(site.location)).map((site) => site.name);
  area.setAttribute('aria-label', `Map of ${places.length} sites; the table below has their numbers.`);
  setText('world-note', lost.length > 0 ? `Not on the map, for they have no site.location: ${lost.join(', ')}.` : '');
  read(reading);
}

function read(name) {
  reading = name;
  const site = shown?.sites.find((one) => one.name === name);
  setText('world-readout', site ? traffic(site) : '');
}
