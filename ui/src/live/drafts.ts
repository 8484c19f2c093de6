// What somebody has begun to write, kept in this tab until it is sent: over a reload, and while a list does not draw it.

const KEY = "roost.draft.";

export const drafts = {
  get: (id: string): string => sessionStorage.getItem(KEY + id) ?? "",
  set(id: string, text: string): void {
    if (text) sessionStorage.setItem(KEY + id, text);
    else sessionStorage.removeItem(KEY + id);
  },
};
