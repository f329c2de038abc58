// Quantiles that were measured, as a curve to draw from.

export type Quantile = readonly [share: number, value: number]

/** Straight lines between the points, on a scale of logarithms. */
export function quantile(points: readonly Quantile[], share: number): number {
  const upper = Math.max(
    1,
    points.findIndex(([at]) => at >= share),
  )
  const [from, low] = points[upper - 1] ?? [0, 1]
  const [to, high] = points[upper] ?? [1, 1]
  const part = to > from ? (share - from) / (to - from) : 0
  return Math.exp(Math.log(low) + part * (Math.log(high) - Math.log(low)))
}
