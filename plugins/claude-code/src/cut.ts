// Claude Code moves longer texts of hooks to a file and shows the model only their start.
const longest = 9_500

export function cut(text: string): string {
  return text.length <= longest ? text : `${text.slice(0, longest).toWellFormed()}\n[…]`
}
