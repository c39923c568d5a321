// Making and changing elements. Text goes in by textContent only: whatever the
// web has put into a title, a URL or an error, it stays text. There is no way
// in here to set HTML, and there must not be one.
import * as format from './format.js';

export const byId = (id) => document.getElementById(id);

// el('td', {class: 'number', title: 'exact'}, 'text or element', ...).
export function el(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function svg(tag, attributes, text) {
  const element = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

// Leaves the page alone if nothing is new, so that selections survive.
export function setText(id, text, title) {
  const element = typeof id === 'string' ? byId(id) : id;
  if (element.textContent !== text) element.textContent = text;
  if (title !== undefined && element.title !== title) element.title = title;
}

let serverAhead = 0;  // Of the clock here, in milliseconds.

export const now = () => Date.now() + serverAhead;
export function setServerTime(time) {
  if (time !== null) serverAhead = time - Date.now();
}

// A time as people say it, with the exact one on hover; kept right by
// refreshTimes().
export function timeOf(text) {
  const time = format.parseTime(text);
  if (time === null) return el('span', {class: 'muted'}, '–');
  return el('time', {datetime: text, title: format.exact(time)}, format.relative(time, now()));
}

export function refreshTimes() {
  for (const element of document.querySelectorAll('time[datetime]')) {
    setText(element, format.relative(format.parseTime(element.dateTime), now()));
  }
}

// Rows of label, bar and number into the list `id`: [{label, value, kind, title}].
export function showBars(id, rows, emptyText) {
  const list = byId(id);
  const most = Math.max(...rows.map((row) => row.value), 0);
  if (most === 0) {
    list.replaceChildren(el('li', {class: 'empty'}, emptyText));
    return;
  }
  list.replaceChildren(...rows.map((row) => {
    const bar = el('span', {class: 'bar', 'data-kind': row.kind, 'aria-hidden': 'true'});
    const width = 100 * row.value / most;
    bar.style.width = row.value > 0 ? `max(2px, ${width}%)` : '0';
    return el('li', {title: row.title},
      el('span', {class: 'label'}, row.label),
      el('span', {class: 'track', 'aria-hidden': 'true'}, bar),
      el('span', {class: 'number'}, format.number(row.value)));
  }));
}

// Text of more than one thing: "a · b".
export const joined = (...parts) => parts.filter((part) => part).join(' · ');
