// Prompts of which nobody knows whether the daemon took them, kept over a reload: sent again with the same key, they
// count once.

export interface UnconfirmedPrompt {
  text: string;
  key: string;
  /** Whether it had pictures, which are not kept. */
  hadImages: boolean;
}

const KEY = "roost.unconfirmed.";

export const unconfirmedPrompts = {
  /** The prompt of this composer, if there is one. */
  get(composer: string): UnconfirmedPrompt | undefined {
    try {
      return (JSON.parse(localStorage.getItem(KEY + composer) ?? "null") as UnconfirmedPrompt | null) ?? undefined;
    } catch {
      return undefined;
    }
  },
  set(composer: string, prompt: UnconfirmedPrompt | undefined): void {
    if (!prompt) return localStorage.removeItem(KEY + composer);
    const { text, key, hadImages } = prompt;
    localStorage.setItem(KEY + composer, JSON.stringify({ text, key, hadImages }));
  },
};
