// The documented baseline estimator, kept so that others' figures can be compared with ours: four characters a token.
// It knows nothing of language, script or model.

export const flatMediaTokens = 2_000

export function baselineTokens(characters: number): number {
  return Math.round(characters / 4)
}
