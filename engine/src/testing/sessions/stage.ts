// Everything that a generated session is made of.

import { type Random, random } from '../random.ts'
import { Meter } from './meter.ts'
import type { Plan } from './options.ts'
import { type Project, project } from './project.ts'
import { Scribe } from './scribe.ts'
import type { Identity } from './style.ts'
import { type TextPool, textPool } from './text.ts'
import type { Workshop } from './tools.ts'
import type { Witness } from './truth.ts'
import { slugAdjectives, slugNouns, slugVerbs } from './words.ts'

export type Stage = {
  readonly plan: Plan
  readonly random: Random
  readonly pool: TextPool
  readonly project: Project
  readonly shop: Workshop
  readonly identity: Identity
  readonly scribe: Scribe
  readonly meter: Meter
  readonly witness: Witness | undefined
  readonly progress: Progress
  /** Recent calls with a result, for a microcompaction to clear. */
  readonly recentCalls: string[]
}

/** The progress of the session. Mutable. */
export class Progress {
  boundaries = 0
  turns = 0
  /** Progress of the current turn, from 0 to 1. */
  turnPart = 0
  droppedTokens = 0
  prompt = ''
  promptId = ''
  title = ''
  private epochStart = 0
  private readonly plan: Plan
  private readonly written: () => number

  constructor(plan: Plan, written: () => number) {
    this.plan = plan
    this.written = written
  }

  isDue(): boolean {
    return this.boundaries < this.plan.boundaries && this.position() >= this.dueAt()
  }

  isDueThisTurn(): boolean {
    return (
      this.boundaries < this.plan.boundaries && this.plan.targetBytes === undefined && this.dueAt() <= this.turns + 1
    )
  }

  isOver(): boolean {
    if (this.boundaries < this.plan.boundaries) return false
    return this.position() >= (this.plan.targetBytes ?? this.plan.turns)
  }

  /** From 0 at the last boundary to 1 at the next. */
  ofEpoch(): number {
    return (this.position() - this.epochStart) / Math.max(1e-9, this.dueAt() - this.epochStart)
  }

  passedBoundary(): void {
    this.boundaries += 1
    this.epochStart = this.position()
  }

  private position(): number {
    return this.plan.targetBytes === undefined ? this.turns + this.turnPart : this.written()
  }

  private dueAt(): number {
    const share = (this.boundaries + 1) / (this.plan.boundaries + 1)
    return this.plan.targetBytes === undefined ? Math.floor(share * this.plan.turns) : share * this.plan.targetBytes
  }
}

export function setStage(plan: Plan, witness: Witness | undefined): Stage {
  const chance = random(plan.seed)
  const pool = textPool(chance)
  const cwd = `/home/dev/${chance.pick(slugNouns)}-service`
  const identity: Identity = {
    style: plan.style,
    sessionId: chance.uuid(),
    cwd,
    gitBranch: chance.pick(['main', 'main', 'feature/limits']),
    slug: `${chance.pick(slugAdjectives)}-${chance.pick(slugVerbs)}-${chance.pick(slugNouns)}`,
  }
  const isCounting = plan.targetBytes !== undefined
  const scribe = new Scribe({ random: chance, identity, startTime: plan.startTime, isCounting, witness })
  const progress = new Progress(plan, () => scribe.size)
  const files = project({ random: chance, pool, cwd, largestFile: plan.largest })
  const { windowTokens } = plan
  const isLast = () => progress.boundaries === plan.boundaries
  const growth =
    windowTokens === undefined
      ? {}
      : { progress: () => progress.ofEpoch(), limit: () => windowTokens * (isLast() ? 0.6 : 0.97) }
  return {
    plan,
    random: chance,
    pool,
    project: files,
    shop: { random: chance, pool, project: files, images: plan.images, largest: plan.largest },
    identity,
    scribe,
    progress,
    meter: new Meter({ random: chance, ...growth }),
    witness,
    recentCalls: [],
  }
}
