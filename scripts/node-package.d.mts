// The types of node-package.mjs.
export function nodePackage(): string
export function nodeIn(folder: string): string
