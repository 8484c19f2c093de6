// Prompts of which nobody knows whether the daemon took them, kept over a reload: sent again with the same key, they
// count once.

export interface UnsurePrompt {
  text: string;
  key: string;
  /** Whether it had pictures, which are not kept. */
  hadImages: boolean;
}

const KEY = "roost.unsure.";

export const unsurePrompts = {
  /** The prompt of this composer, if there is one. */
  get(composer: string): UnsurePrompt | undefined {
    try {
      return (JSON.parse(localStorage.getItem(KEY + composer) ?? "null") as UnsurePrompt | null) ?? undefined;
    } catch {
      return undefined;
    }
  },
  set(composer: string, prompt: UnsurePrompt | undefined): void {
    if (!prompt) return localStorage.removeItem(KEY + composer);
    const { text, key, hadImages } = prompt;
    localStorage.setItem(KEY + composer, JSON.stringify({ text, key, hadImages }));
  },
};
