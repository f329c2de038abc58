// The choices of a picker that match the typed text.
import type { Choice } from '../../app.ts'
import type { Picker } from './state.ts'

export function matchingChoices({ choices, filter }: Pick<Picker, 'choices' | 'filter'>): readonly Choice[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean)
  return choices.filter(({ label, detail = '' }) => {
    const text = `${label} ${detail}`.toLowerCase()
    return words.every((word) => text.includes(word))
  })
}
