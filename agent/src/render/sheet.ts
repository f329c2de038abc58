// The layout of text: its width, and whether it may have colors.
import { styleText } from 'node:util'

export type Style = Parameters<typeof styleText>[0]

export type Sheet = {
  readonly width: number
  readonly paint: (style: Style, text: string) => string
}

export function createSheet({ width, isColored }: { readonly width: number; readonly isColored: boolean }): Sheet {
  return { width, paint: (style, text) => (isColored ? styleText(style, text, { validateStream: false }) : text) }
}
