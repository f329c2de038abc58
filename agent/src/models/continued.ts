// The model for a continued session: the one that it last used, if that is still usable.
import { modelOf } from '../sessions/sessions.ts'
import { chooseModel, type ModelWorld } from './choose.ts'
import type { ChosenModel } from './chosen.ts'

export type ContinuedModel =
  /** `none`: it has sent nothing yet, or used the current model. */
  { readonly type: 'none' } | ChosenModel | { readonly type: 'unusable'; readonly words: string; readonly why: string }

/** `current`: the text that selects the current model, which is not started a second time. */
export async function continuedModel(path: string, world: ModelWorld, current?: string): Promise<ContinuedModel> {
  const words = modelOf(path)
  if (words === undefined || words === current) return { type: 'none' }
  const choice = await chooseModel(words, world)
  if (choice.type === 'model') return choice
  return { type: 'unusable', words, why: choice.type === 'refused' ? choice.why : 'There is no key for it.' }
}

/** Notices for the person: the model is not the configured one, or `used` replaces it. */
export function continuedNotices(
  last: ContinuedModel,
  used: string,
  configured: string | undefined,
): readonly string[] {
  if (last.type === 'unusable') {
    return [`This session used ${last.words}, which cannot be used now. ${last.why} It continues with ${used}.`]
  }
  if (last.type === 'none' || bare(last.words) === bare(configured)) return []
  return [`This session continues with ${last.words}, the model that it last used. /model changes it.`]
}

function bare(words: string | undefined): string | undefined {
  return words?.replace(/^anthropic:/, '')
}
