// Numbers and times as people read them. Pure functions; every one takes
// null or undefined for "not known", and says a dash.

const NONE = '–';
const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
const short = new Intl.NumberFormat('en', {notation: 'compact', maximumFractionDigits: 1});
const exactTime = new Intl.DateTimeFormat('en-GB', {
  dateStyle: 'medium', timeStyle: 'long'});

const unknown = (value) => value === null || value === undefined || Number.isNaN(value);

export function number(value) {
  return unknown(value) ? NONE : whole.format(value);
}

// 1.2M: for what is too long to compare by eye. The exact one goes in a title.
export function compact(value) {
  return unknown(value) ? NONE : short.format(value);
}

// Three digits are enough to see a change, and too few to flicker.
export function rate(value) {
  if (unknown(value)) return NONE;
  if (value >= 100) return whole.format(value);
  return value.toFixed(value >= 10 ? 1 : value === 0 ? 0 : 2);
}

export function bytes(value) {
  if (unknown(value)) return NONE;
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB', 'PB'];
  let unit = 0;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    ++unit;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${value.toFixed(digits)} ${units[unit]}`;
}

export function duration(seconds) {
  if (unknown(seconds)) return NONE;
  if (seconds < 1) return seconds > 0 ? `${Math.max(1, Math.round(seconds * 1000))} ms` : '0 s';
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const s = Math.round(seconds);
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${s % 60} s`;
  const minutes = Math.round(s / 60);
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.round(minutes / 60 / 24)} days`;
}

export function share(part, all) {
  if (!all) return '0 %';
  const percent = 100 * part / all;
  return percent > 0 && percent < 0.1 ? '< 0.1 %' : `${percent.toFixed(percent < 10 ? 1 : 0)} %`;
}

// "3 minutes ago", "in 2 hours"; `now` and `time` in milliseconds.
export function relative(time, now) {
  if (unknown(time)) return NONE;
  const seconds = (time - now) / 1000;
  const size = Math.abs(seconds);
  if (size < 5) return 'now';
  const steps = [[60, 1, 's'], [3600, 60, 'min'], [48 * 3600, 3600, 'h'],
    [Infinity, 86400, 'days']];
  const [, unit, name] = steps.find(([below]) => size < below);
  const text = `${Math.round(size / unit)} ${name}`;
  return seconds < 0 ? `${text} ago` : `in ${text}`;
}

export function exact(time) {
  return unknown(time) ? NONE : exactTime.format(new Date(time));
}

export function parseTime(text) {
  const time = text ? Date.parse(text) : NaN;
  return Number.isNaN(time) ? null : time;
}

export function clock(time) {
  return new Date(time).toLocaleTimeString('en-GB', {hour: '2-digit', minute: '2-digit'});
}
