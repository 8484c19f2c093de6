// Which tool calls and thoughts are unfolded, and where somebody reads; kept over a reload of the page.

const KEY = "roost.folds";
/** As many as a person remembers having opened. */
const KEPT = 200;

const open = new Set<string>(JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as string[]);

export const folds = {
  isOpen: (id: string) => open.has(id),
  set(id: string, isOpen: boolean): void {
    if (isOpen) open.add(id);
    else open.delete(id);
    sessionStorage.setItem(KEY, JSON.stringify([...open].slice(-KEPT)));
  },
};

const PLACE = "roost.place.";

/** The `seq` at the top of the screen of somebody who reads in the middle of a session; none at its end. */
export const readingPlace = {
  get(session: string): number | undefined {
    return Number(sessionStorage.getItem(PLACE + session)) || undefined;
  },
  set(session: string, seq: number | undefined): void {
    if (seq === undefined) sessionStorage.removeItem(PLACE + session);
    else sessionStorage.setItem(PLACE + session, String(seq));
  },
};
