// What people typed, put into a summary word for word as far as a budget goes: the newest and the shortest whole, longer
// ones cut in the middle with a pointer. It takes words from human messages and from nothing else.
import { blocksOf, isMedia, textOf } from '../message/block.ts'
import { isRequest, type ViewMessage } from '../message/message.ts'
import { recallPointer } from '../prompts/recall.ts'

export type HumanMessage = {
  readonly text: string
  readonly uuid?: string
  /** The ledger carried only both ends of it. */
  readonly isCut?: boolean
}

export type CountTokens = (text: string) => number

/** The messages that people typed, oldest first. A picture without words is said to be one. */
export function humanMessages(messages: readonly ViewMessage[]): readonly HumanMessage[] {
  return messages
    .filter(({ origin }) => isRequest(origin))
    .map((message) => ({ text: saidIn(message), ...(message.uuid === undefined ? {} : { uuid: message.uuid }) }))
    .filter(({ text }) => text !== '')
}

function saidIn(message: ViewMessage): string {
  const text = typedText(textOf(message.content))
  const media = blocksOf(message.content).filter(isMedia)
  return [text, ...media.map(({ type }) => `[${type}]`)].filter((part) => part !== '').join('\n')
}

const commandName = /^\s*(?:<command-message>[^<]*<\/command-message>\s*)?<command-name>([^<]+)<\/command-name>/
const commandArguments = /<command-args>([\s\S]*?)<\/command-args>/

/** A client writes a slash command as tags: this is what was typed. Anything else is as it is. */
export function typedText(text: string): string {
  const name = commandName.exec(text)?.[1]?.trim()
  if (name === undefined) return text.trim()
  const words = commandArguments.exec(text)?.[1]?.trim() ?? ''
  return `${name.startsWith('/') ? name : `/${name}`} ${words}`.trim()
}

/** A command of the client itself, which asks nothing of the agent. */
const ofTheClient =
  /^\/(?:exit|quit|clear|compact|context|cost|status|model|ide|config|help|login|logout|resume|memory|doctor|theme|vim|usage|mcp|agents|hooks|permissions|export|fast|effort)(?:\s|$)/

export function asksSomething(text: string): boolean {
  return !ofTheClient.test(text)
}

/** What is to be done now: the latest that asks something of the agent. */
export function latestRequest(messages: readonly HumanMessage[]): HumanMessage | undefined {
  return messages.findLast(({ text }) => asksSomething(text)) ?? messages.at(-1)
}

export type CutOptions = {
  readonly tokens: number
  readonly countTokens: CountTokens
  /** The model has the recall tool. */
  readonly recall: boolean
}

export type Shown = { readonly text: string; readonly isWhole: boolean }

/** The message whole if it fits, else both ends of it around a pointer to the rest. */
export function fitMessage(message: HumanMessage, { tokens, countTokens, recall }: CutOptions): Shown {
  const { text } = message
  const isWhole = message.isCut !== true
  if (countTokens(text) <= tokens) {
    return isWhole ? { text, isWhole } : { text: `${text}\n${pointer(message, { recall, left: 0 })}`, isWhole }
  }
  let [low, high] = [0, text.length]
  let best = pointer(message, { recall, left: text.length })
  while (low < high) {
    const kept = (low + high + 1) >> 1
    const cut = cutMiddle(message, { kept, recall })
    if (countTokens(cut) <= tokens) {
      best = cut
      low = kept
    } else high = kept - 1
  }
  return { text: best, isWhole: false }
}

function cutMiddle(message: HumanMessage, { kept, recall }: { readonly kept: number; readonly recall: boolean }) {
  const { text } = message
  const head = text.slice(0, Math.ceil(kept * 0.6)).toWellFormed()
  const tail = kept < 2 ? '' : text.slice(text.length - Math.floor(kept * 0.4)).toWellFormed()
  return `${head.trimEnd()} ${pointer(message, { recall, left: text.length - kept })} ${tail.trimStart()}`.trim()
}

function pointer({ uuid }: HumanMessage, { recall, left }: { readonly recall: boolean; readonly left: number }) {
  const what = left > 0 ? `… ${left} characters left out` : '… the middle is left out'
  if (uuid === undefined) return `[${what}; whole in the transcript …]`
  return `[${what}; whole: ${recall ? recallPointer(uuid) : `entry ${uuid} of the transcript`} …]`
}

export type FitOptions = {
  readonly budget: number
  readonly countTokens: CountTokens
  readonly recall: boolean
}

/** The least a cut message is worth showing with; below it the oldest are counted instead of shown. */
const least = 40
const lineCost = 4

/**
 * All messages within the budget, or the oldest left out where not even a line of each fits. Every message may use the
 * same number of tokens, the three newest twice as many: so the short ones are whole, and the long ones share the rest.
 */
export function fitMessages(messages: readonly HumanMessage[], options: FitOptions): readonly (Shown | undefined)[] {
  const { budget, countTokens, recall } = options
  const costs: number[] = []
  // Newest first: those for which there is no room are not even counted.
  const share = (fromEnd: number, level: number) => Math.min(costs[fromEnd] ?? 0, fromEnd < 3 ? level * 2 : level)
  for (let left = budget; costs.length < messages.length; ) {
    costs.push(countTokens(messages[messages.length - 1 - costs.length]?.text ?? '') + lineCost)
    left -= share(costs.length - 1, least)
    if (left < 0) {
      costs.pop()
      break
    }
  }
  const total = (level: number) => costs.reduce((sum, _, fromEnd) => sum + share(fromEnd, level), 0)
  let [low, high] = [least, costs.reduce((most, cost) => Math.max(most, cost), least)]
  while (low < high) {
    const level = (low + high + 1) >> 1
    if (total(level) <= budget) low = level
    else high = level - 1
  }
  return messages.map((message, at) => {
    const fromEnd = messages.length - 1 - at
    if (fromEnd >= costs.length) return undefined
    return fitMessage(message, { tokens: share(fromEnd, low) - lineCost, countTokens, recall })
  })
}
