// Restores skills and slash commands: those being executed whole and early, or else the one that was invoked last, late and
// cut at its end, since the head of a skill matters most. Older ones are finished: they are only named.
import type { NotRestored, Piece } from '../ports/restore.ts'
import { markedHeadWithin } from '../text/cut.ts'
import type { RestoreInput, Restorer } from './restorer.ts'
import type { Skill } from './state.ts'

const budget = 25_000
const perSkill = 5_000
/** Less of a skill is no help. */
const leastPart = 200

export const restoreRunningSkill: Restorer = {
  kind: 'skills',
  budget,
  restore: async (input, room) => restored(input, { room, each: room, skills: input.state.skills.filter(isRunning) }),
}

export const restoreSkills: Restorer = {
  kind: 'skills',
  budget,
  restore: async (input, room) => {
    const isAnyRunning = input.state.skills.some(isRunning)
    const finished = input.state.skills.filter((skill) => !isRunning(skill))
    const [skills, older] = isAnyRunning ? [[], finished] : [finished.slice(0, 1), finished.slice(1)]
    const { pieces, notRestored } = restored(input, { room, each: perSkill, skills })
    return { pieces, notRestored: [...notRestored, ...older.map(olderSkill)] }
  },
}

function olderSkill(skill: Skill): NotRestored {
  return { kind: 'skills', what: titleOf(skill), why: 'invoke it again if it still applies' }
}

function isRunning(skill: Skill): boolean {
  return skill.isRunning === true
}

type Which = { readonly room: number; readonly each: number; readonly skills: readonly Skill[] }

function restored(input: RestoreInput, { room, each, skills }: Which) {
  const pieces: Piece[] = []
  const notRestored: NotRestored[] = []
  let left = room
  for (const skill of skills) {
    const piece = skillPiece(skill, input, Math.min(each, left))
    if (piece) {
      pieces.push(piece)
      left -= piece.tokens
    } else notRestored.push({ kind: 'skills', what: titleOf(skill), why: 'there is no room for it' })
  }
  return { pieces, notRestored }
}

function titleOf({ name, isRunning }: Skill): string {
  const what = name.startsWith('/') ? 'Command' : 'Skill'
  return `${what} ${name}, ${isRunning ? 'invoked recently' : 'invoked earlier'}`
}

function skillPiece(skill: Skill, { countTokens }: RestoreInput, room: number): Piece | undefined {
  const { name, path, text } = skill
  const title = `${titleOf(skill)}${path === undefined ? '' : ` (${path})`}`
  const marker = path === undefined ? '[cut: invoke the skill again for the rest]' : `[cut: the rest is in ${path}]`
  const tokens = room - countTokens(title) - 2
  if (tokens < leastPart && countTokens(text) > tokens) return undefined
  const cut = markedHeadWithin(text, { tokens, countTokens, marker })
  if (cut === '') return undefined
  const state = { skill: { name, ...(path === undefined ? {} : { path }) } }
  return { kind: 'skills', title, text: cut, tokens: countTokens(`${title}\n${cut}`), state }
}
