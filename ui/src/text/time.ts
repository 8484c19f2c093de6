// Times and amounts for people.

/** The same clock in every language: one that is read at a glance beside others, as in logs. */
const hourCycle = "h23";
const clock = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", hourCycle });
const exact = new Intl.DateTimeFormat(undefined, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle });
const day = new Intl.DateTimeFormat(undefined, { month: "short", day: "numeric" });
const full = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium", hourCycle });

export const clockTime = (time: string | Date) => clock.format(new Date(time));
export const exactTime = (time: string | Date) => exact.format(new Date(time));
export const dayOf = (time: string | Date) => day.format(new Date(time));
export const fullTime = (time: string | Date) => full.format(new Date(time));

/** How long ago something was, as short as a list needs it. */
export function age(time: string | Date, now: number): string {
  const seconds = Math.max(0, (now - new Date(time).getTime()) / 1000);
  if (seconds < 45) return "now";
  if (seconds < 3600) return `${Math.max(1, Math.round(seconds / 60))} min`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h`;
  if (seconds < 7 * 86_400) return `${Math.round(seconds / 86_400)} d`;
  return day.format(new Date(time));
}

export function duration(from: string | undefined, to: string | undefined): string {
  if (!from || !to) return "";
  return seconds(Math.max(0, Date.parse(to) - Date.parse(from)) / 1000);
}

export function seconds(count: number): string {
  // What took no time that can be told is not shown as none.
  if (count < 10) return `${Math.max(0.1, count).toFixed(1)} s`;
  if (count < 60) return `${Math.round(count)} s`;
  const minutes = Math.floor(count / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(count % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

export function tokens(count: number): string {
  if (count < 1000) return String(count);
  if (count < 100_000) return `${(count / 1000).toFixed(1)}k`;
  return count < 1_000_000 ? `${Math.round(count / 1000)}k` : `${(count / 1_000_000).toFixed(1)}M`;
}

export function bytes(count: number): string {
  if (count < 1024) return `${count} B`;
  if (count < 1024 * 1024) return `${(count / 1024).toFixed(1)} KB`;
  if (count < 1024 ** 3) return `${(count / 1024 ** 2).toFixed(1)} MB`;
  return `${(count / 1024 ** 3).toFixed(1)} GB`;
}

export const dollars = (amount: number) => (amount < 0.1 ? `$${amount.toFixed(3)}` : `$${amount.toFixed(2)}`);

export const plural = (count: number, one: string, many = `${one}s`) => `${count} ${count === 1 ? one : many}`;

/** When something comes, as short as a list needs it. */
export function until(time: string | Date, now: number): string {
  const left = (new Date(time).getTime() - now) / 1000;
  return left < 1 ? "now" : `in ${left < 90 ? `${Math.round(left)} s` : `${Math.round(left / 60)} min`}`;
}

export const micros = (count: number) => (count < 1_000_000 ? `${(count / 1000).toFixed(count < 10_000 ? 1 : 0)} ms` : seconds(count / 1_000_000));
