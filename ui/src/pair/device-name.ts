// A name for this device that its owner recognises in a list.

export function deviceName(): string {
  const agent = navigator.userAgent;
  const device = /iPhone|iPad|Android|Macintosh|Windows|CrOS|Linux/.exec(agent)?.[0] ?? "Browser";
  const browser = /Edg|Firefox|Chrome|Safari/.exec(agent)?.[0] ?? "browser";
  const names: Record<string, string> = { Macintosh: "Mac", CrOS: "Chromebook", Edg: "Edge" };
  return `${names[browser] ?? browser} on ${names[device] ?? device}`;
}
