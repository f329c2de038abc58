// Restorers that read the plan, the memory files and the skills: whole where they must be, cut at the end where the head
// matters most.
import { hashText } from '../cache/fingerprint.ts'
import { type NotRestored, nothingRestored, type Piece } from '../ports/restore.ts'
import { markedHeadWithin } from '../text/cut.ts'
import type { RestoreInput, Restorer } from './restorer.ts'
import type { Skill } from './state.ts'

export const restorePlan: Restorer = {
  kind: 'plan',
  budget: 25_000,
  restore: async (input, room) => {
    const { plan } = input.state
    if (!plan) return nothingRestored
    const mode = plan.isOn ? ' (plan mode is on: plan, change nothing)' : ''
    const read = plan.path === undefined ? undefined : await input.files.read(plan.path)
    const text = read?.type === 'text' ? read.text : plan.text
    const title = `Plan${plan.path === undefined ? '' : ` ${plan.path}`}${mode}`
    if (text === undefined)
      return { pieces: [], notRestored: [{ kind: 'plan', what: title, why: 'it cannot be read' }] }
    const tokens = input.countTokens(`${title}\n${text}`)
    if (tokens <= room) return { pieces: [{ kind: 'plan', title, text, tokens }], notRestored: [] }
    return { pieces: [], notRestored: [{ kind: 'plan', what: title, why: `it has ${tokens} tokens` }] }
  },
}

export const restoreMemoryFiles: Restorer = {
  kind: 'memory-files',
  budget: 40_000,
  restore: async (input, room) => {
    const pieces: Piece[] = []
    const notRestored: NotRestored[] = []
    let left = room
    for (const path of input.state.memoryFiles) {
      const read = await input.files.read(path)
      if (read.type !== 'text') {
        notRestored.push({ kind: 'memory-files', what: path, why: 'it cannot be read' })
        continue
      }
      const title = `Instructions ${path} (${nameOfContent(read.text)})`
      const tokens = input.countTokens(`${title}\n${read.text}`)
      if (tokens > left)
        notRestored.push({ kind: 'memory-files', what: path, why: `it has ${tokens} tokens, and ${left} are left` })
      else {
        pieces.push({ kind: 'memory-files', title, text: read.text, tokens, path })
        left -= tokens
      }
    }
    return { pieces, notRestored }
  },
}

/** A short name for a text's exact content, so that two versions can be told apart: 32 bits are enough to read. */
function nameOfContent(text: string): string {
  return `#${(hashText(text) >>> 0).toString(16).padStart(8, '0')}`
}

const perSkill = 5_000

export const restoreSkills: Restorer = {
  kind: 'skills',
  budget: 25_000,
  restore: async (input, room) => {
    const pieces: Piece[] = []
    const notRestored: NotRestored[] = []
    let left = room
    for (const skill of input.state.skills) {
      const piece = skillPiece(skill, input, Math.min(perSkill, left))
      if (piece) {
        pieces.push(piece)
        left -= piece.tokens
      } else notRestored.push({ kind: 'skills', what: skill.name, why: `its budget is used up` })
    }
    return { pieces, notRestored }
  },
}

function skillPiece({ name, path, text }: Skill, { countTokens }: RestoreInput, room: number): Piece | undefined {
  const title = `Skill ${name}, invoked earlier${path === undefined ? '' : ` (${path})`}`
  const marker = path === undefined ? '[cut: invoke the skill again for the rest]' : `[cut: the rest is in ${path}]`
  const tokens = room - countTokens(title) - 2
  const cut = tokens <= 0 ? '' : markedHeadWithin(text, { tokens, countTokens, marker })
  return cut === '' ? undefined : { kind: 'skills', title, text: cut, tokens: countTokens(`${title}\n${cut}`) }
}
