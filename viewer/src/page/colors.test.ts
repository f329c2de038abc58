// Neighboring bands of the chart can be told apart, also by people who see fewer colors, in both themes.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { bands } from '../data/api.ts'

type Color = readonly [number, number, number]

/** Machado, Oliveira and Fernandes (2009), complete deficiency, for linear light. */
const sights: Readonly<Record<string, readonly Color[]>> = {
  'all colors': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  'no red': [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  'no green': [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  'no blue': [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
}

const times = (matrix: readonly Color[], [r, g, b]: Color): Color =>
  matrix.map(([x, y, z]) => x * r + y * g + z * b) as unknown as Color

function linear(hex: string): Color {
  const part = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16) / 255
  return [1, 3, 5].map((at) =>
    part(at) <= 0.04045 ? part(at) / 12.92 : ((part(at) + 0.055) / 1.055) ** 2.4,
  ) as unknown as Color
}

function lab(color: Color): Color {
  const [x, y, z] = times(
    [
      [0.4124, 0.3576, 0.1805],
      [0.2126, 0.7152, 0.0722],
      [0.0193, 0.1192, 0.9505],
    ],
    color.map((part) => Math.min(1, Math.max(0, part))) as unknown as Color,
  )
  const f = (t: number) => (t > 0.008856 ? Math.cbrt(t) : 7.787 * t + 16 / 116)
  const [fx, fy, fz] = [f(x / 0.95047), f(y), f(z / 1.08883)]
  return [116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)]
}

const distance = (a: Color, b: Color) => Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])

const style = readFileSync(join(import.meta.dirname, 'style.css'), 'utf8')

function colorOf(name: string, theme: number): string {
  const [, ...colors] = new RegExp(`--${name}: light-dark\\((#\\w{6}), (#\\w{6})\\)`).exec(style) ?? []
  return colors[theme] ?? ''
}

/** A difference of 2 is just noticeable side by side; 10 is seen at a glance. */
const minDistance = 15

test.each(Object.keys(sights))('every band differs from those that can lie next to it (%s)', (sight) => {
  for (const theme of [0, 1]) {
    const seen = bands.map((band) => lab(times(sights[sight] ?? [], linear(colorOf(band, theme)))))
    for (const [at, band] of bands.entries()) {
      // Bands in between may be empty.
      for (const other of [at + 1, at + 2].filter((next) => next < bands.length)) {
        const found = distance(seen[at] as Color, seen[other] as Color)
        expect([theme, band, bands[other], found > minDistance, Math.round(found)]).toEqual([
          theme,
          band,
          bands[other],
          true,
          Math.round(found),
        ])
      }
    }
  }
})
