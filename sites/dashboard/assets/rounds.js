// The last rounds as a table, and one round's report in full.
import {byId, el, timeOf} from './dom.js';
import * as format from './format.js';

const pagesOf = (report) =>
  ['fetched', 'moved', 'gone', 'failed', 'blocked'].reduce((sum, name) => sum + (report[name] ?? 0), 0);

export const roundLink = (number) => `#round=${number}`;

export function showRounds(reports) {
  const place = byId('rounds');
  if (reports.length === 0) {
    place.replaceChildren(el('p', {class: 'empty'}, 'No round has ended yet. ' +
      'The report of the first one will stand here.'));
    return;
  }
  const head = [['Round', ''], ['Began', ''], ['Took', 'number'], ['Pages', 'number'],
    ['Failed', 'number wide'], ['Pages/s', 'number wide'], ['New', 'number wide']];
  place.replaceChildren(el('table', {class: 'clickable'},
    el('thead', {}, el('tr', {}, ...head.map(([name, kind]) => el('th', {scope: 'col', class: kind}, name)))),
    el('tbody', {}, ...reports.map(row))));
}

function row(report) {
  const pages = pagesOf(report);
  const link = el('a', {href: roundLink(report.round)}, format.number(report.round));
  const line = el('tr', {},
    el('th', {scope: 'row'}, link),
    el('td', {}, timeOf(report.started)),
    el('td', {class: 'number'}, format.duration(report.seconds)),
    el('td', {class: 'number'}, format.number(pages)),
    el('td', {class: 'number wide'}, format.number(report.failed)),
    el('td', {class: 'number wide'}, format.rate(report.seconds > 0 ? pages / report.seconds : 0)),
    el('td', {class: 'number wide'}, format.number(report.added)));
  // The whole row is the link; those who select text mean something else.
  line.addEventListener('click', (event) => {
    if (event.target !== link && String(getSelection()) === '') link.click();
  });
  return line;
}

const PARTS = [
  ['Outcomes', ['fetched', 'unchanged', 'moved', 'gone', 'failed', 'blocked', 'released']],
  ['Links', ['found', 'added', 'deferred', 'dropped_urls']],
  ['At its end', ['known', 'frontier', 'scheduled', 'waiting']],
];
const WORDS = {
  unchanged: 'of these unchanged', released: 'given back', found: 'links found', added: 'new pages',
  deferred: 'over the quota', dropped_urls: 'URLs dropped', known: 'known pages', frontier: 'in the frontier',
  waiting: 'deferred in all'};

// What the detail window shows of it.
export function roundDetail(report) {
  const shown = new Set(['round', 'started', 'seconds', 'bytes', 'resumed', 'phase_seconds', 'dropped']);
  const list = (title, rows) => el('section', {}, el('h3', {}, title),
    el('dl', {class: 'facts'}, ...rows.map(([name, value]) =>
      el('div', {}, el('dt', {}, name), el('dd', {}, value)))));
  const pages = pagesOf(report);
  const parts = [list('Round', [
    ['began', timeOf(report.started)], ['took', format.duration(report.seconds)],
    ['pages', format.number(pages)], ['received', format.bytes(report.bytes)],
    ['pages a second', format.rate(report.seconds > 0 ? pages / report.seconds : 0)],
    ['interrupted and resumed', report.resumed ? 'yes' : 'no']])];
  for (const [title, keys] of PARTS) {
    parts.push(list(title, keys.filter((key) => key in report).map((key) => {
      shown.add(key);
      return [WORDS[key] ?? key, format.number(report[key])];
    })));
  }
  const phases = Object.entries(report.phase_seconds ?? {}).filter(([, seconds]) => seconds > 0);
  parts.push(list('Time by phase', phases.map(([phase, seconds]) => [phase, format.duration(seconds)])));
  const dropped = Object.entries(report.dropped ?? {});
  if (dropped.length > 0) {
    parts.push(list('Cash of dropped links', dropped.map(([why, cash]) => [why, format.number(cash)])));
  }
  // Keys may be added to reports; what this page does not know is shown as it is.
  const others = Object.entries(report).filter(([key]) => !shown.has(key));
  if (others.length > 0) {
    parts.push(list('More', others.map(([key, value]) => [key.replaceAll('_', ' '),
      typeof value === 'number' ? format.number(value) : JSON.stringify(value)])));
  }
  return [el('div', {class: 'columns'}, ...parts),
    el('p', {class: 'links'}, el('a', {href: `/api/round?number=${report.round}`, target: '_blank'}, 'Raw report (JSON)'))];
}
