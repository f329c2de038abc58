// What a terminal sends for keys.

export const keys = {
  enter: '\r',
  escape: '\u001b',
  up: '\u001b[A',
  down: '\u001b[B',
  left: '\u001b[D',
  altEnter: '\u001b\r',
  shiftTab: '\u001b[Z',
  ctrlA: '\u0001',
  ctrlB: '\u0002',
  ctrlC: '\u0003',
  ctrlE: '\u0005',
  ctrlO: '\u000f',
  ctrlR: '\u0012',
  ctrlU: '\u0015',
  ctrlW: '\u0017',
  ctrlY: '\u0019',
  ctrlUnderscore: '\u001f',
  end: '\u001b[F',
  paste: (text: string) => `\u001b[200~${text}\u001b[201~`,
} as const
