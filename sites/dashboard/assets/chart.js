// The chart of the last hour: two panels over one time axis, pages above and
// megabytes below, because one axis for both would lie about either. The
// pointer, a finger or the arrow keys read values off it.
import {byId, setText, svg} from './dom.js';
import * as format from './format.js';

const HOUR = 3600 * 1000;
const LEFT = 46, RIGHT = 12, TOP = 22, PANEL = 104, GAP = 40, BOTTOM = 24;
const PANELS = [
  {name: 'pages', title: 'Pages a second', scale: 1, of: (point) => point[1]},
  {name: 'bytes', title: 'Megabytes a second', scale: 1e-6, of: (point) => point[2]},
];

// The least number from `value` up that reads well on an axis, halved as well.
function roundUp(value) {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 1.5, 2, 3, 4, 5, 6, 8, 10].map((step) => step * power).find((step) => step >= value * 0.999);
}

export class RateChart {
  constructor() {
    this.area = byId('chart');
    this.points = [];
    this.every = 10;
    this.end = 0;
    this.chosen = null;  // Index of the point being read.
    new ResizeObserver(() => this.draw()).observe(this.area);
    this.area.addEventListener('pointermove', (event) => this.choose(this.nearest(event)));
    this.area.addEventListener('pointerdown', (event) => this.choose(this.nearest(event)));
    this.area.addEventListener('pointerleave', () => this.choose(null));
    this.area.addEventListener('blur', () => this.choose(null));
    this.area.addEventListener('keydown', (event) => this.onKey(event));
  }

  show(rates) {
    const at = this.chosen === null ? null : this.points[this.chosen]?.[0];
    this.points = rates.points;
    this.every = rates.every;
    this.end = rates.now;
    const same = this.points.findIndex((point) => point[0] === at);
    this.chosen = same < 0 ? null : same;
    this.draw();
  }

  x(time) {
    return LEFT + (this.width - LEFT - RIGHT) * (1 - (this.end - time) / HOUR);
  }

  nearest(event) {
    const x = event.clientX - this.area.getBoundingClientRect().left;
    let best = null;
    this.points.forEach((point, i) => {
      const away = Math.abs(this.x(point[0]) - x);
      if (best === null || away < best.away) best = {i, away};
    });
    return best?.i ?? null;
  }

  onKey(event) {
    const step = {ArrowLeft: -1, ArrowRight: 1, PageUp: -30, PageDown: 30}[event.key];
    if (step === undefined || this.points.length === 0) return;
    event.preventDefault();
    const last = this.points.length - 1;
    this.choose(Math.min(last, Math.max(0, (this.chosen ?? last + (step > 0 ? 0 : 1)) + step)));
  }

  draw() {
    const empty = this.points.length === 0;
    byId('chart-empty').hidden = !empty || this.end === 0;
    this.area.hidden = empty;
    if (empty || this.area.clientWidth === 0) return;
    this.width = this.area.clientWidth;
    const height = TOP + 2 * PANEL + GAP + BOTTOM;
    const picture = svg('svg', {width: this.width, height, 'aria-hidden': 'true'});
    PANELS.forEach((panel, i) => this.drawPanel(picture, panel, TOP + i * (PANEL + GAP)));
    this.drawTimes(picture, height - BOTTOM);
    this.cursor = svg('g', {class: 'cursor'});
    picture.append(this.cursor);
    this.area.replaceChildren(picture);
    this.choose(this.chosen);
    const last = this.points[this.points.length - 1];
    this.area.setAttribute('aria-label', `Rates of the last hour. Lately ${format.rate(last[1])} ` +
      `pages and ${format.rate(last[2] / 1e6)} megabytes a second. Arrow keys read values.`);
  }

  drawPanel(picture, panel, top) {
    const values = this.points.map((point) => panel.of(point) * panel.scale);
    const most = roundUp(Math.max(...values) * 1.05);
    const bottom = top + PANEL;
    panel.y = (value) => bottom - PANEL * value * panel.scale / most;
    picture.append(svg('text', {class: 'title', x: LEFT, y: top - 9}, panel.title));
    for (const part of [0, 0.5, 1]) {
      const y = Math.round(bottom - PANEL * part) + 0.5;
      picture.append(
        svg('line', {class: part === 0 ? 'axis' : 'grid', x1: LEFT, x2: this.width - RIGHT, y1: y, y2: y}),
        svg('text', {class: 'tick', x: LEFT - 8, y: y + 4, 'text-anchor': 'end'},
          most * part >= 1000 ? format.compact(most * part) : String(+(most * part).toPrecision(3))));
    }
    for (const piece of this.pieces()) {
      const line = piece.map((point) =>
        `${this.x(point[0]).toFixed(1)},${panel.y(panel.of(point)).toFixed(1)}`).join('L');
      const from = this.x(piece[0][0]).toFixed(1), to = this.x(piece[piece.length - 1][0]).toFixed(1);
      picture.append(
        svg('path', {class: `area ${panel.name}`, d: `M${from},${bottom}L${line}L${to},${bottom}Z`}),
        svg('path', {class: `line ${panel.name}`, d: `M${line}`}));
    }
  }

  // Where nothing was measured for a while, the line is broken.
  pieces() {
    const pieces = [];
    this.points.forEach((point, i) => {
      const before = this.points[i - 1];
      if (!before || point[0] - before[0] > this.every * 3500) pieces.push([]);
      pieces[pieces.length - 1].push(point);
    });
    return pieces;
  }

  drawTimes(picture, bottom) {
    const minutes = this.width < 480 ? 20 : 10;
    const step = minutes * 60 * 1000;
    for (let time = Math.ceil((this.end - HOUR) / step) * step; time <= this.end; time += step) {
      const x = this.x(time);
      if (x < LEFT + 14 || x > this.width - RIGHT - 10) continue;
      picture.append(svg('text', {class: 'tick', x, y: bottom + 18, 'text-anchor': 'middle'},
        format.clock(time)));
    }
  }

  choose(index) {
    this.chosen = index;
    this.cursor?.replaceChildren();
    const point = index === null ? undefined : this.points[index];
    if (!point || !this.cursor) {
      setText('readout', '');
      return;
    }
    const x = this.x(point[0]);
    this.cursor.append(svg('line', {x1: x, x2: x, y1: TOP, y2: TOP + 2 * PANEL + GAP}));
    for (const panel of PANELS) {
      this.cursor.append(svg('circle', {class: panel.name, cx: x, cy: panel.y(panel.of(point)), r: 4}));
    }
    setText('readout', `${new Date(point[0]).toLocaleTimeString('en-GB')} · ` +
      `${format.rate(point[1])} pages/s · ${format.rate(point[2] / 1e6)} MB/s`);
  }
}
