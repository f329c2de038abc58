// Copies to the clipboard and saves as a file, both without keys, tokens and passwords that code recognizes.
import { withoutSecrets } from 'everlong/internal'
import type { Item } from '../../data/api.ts'
import { dateTime, visible } from '../format.ts'
import { itemNames } from './names.ts'

export function copy(text: string): Promise<void> {
  return navigator.clipboard.writeText(withoutSecrets(text))
}

export function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([withoutSecrets(text)], { type: 'text/plain' }))
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  URL.revokeObjectURL(url)
}

export function markdownOf(items: readonly Item[]): string {
  return items
    .map(({ type, time, line, blocks }) => {
      const title = [itemNames[type], dateTime(time), `line ${line}`].filter((part) => part !== '').join(', ')
      return `### ${title}\n\n${blocks.map(blockText).join('\n\n')}\n`
    })
    .join('\n')
}

function blockText({ type, tool, text }: Item['blocks'][number]): string {
  if (type === 'text') return visible(text)
  if (type === 'image') return '[image]'
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
  const fence = '`'.repeat(Math.max(3, longest + 1))
  const name =
    type === 'call' ? `Call of ${tool}:` : type === 'result' ? `Result${tool === null ? '' : ` of ${tool}`}:` : ''
  return [name, fence, visible(text), fence].filter((part) => part !== '').join('\n')
}

export function jsonLinesOf(items: readonly Item[]): string {
  return items.map((item) => `${JSON.stringify(item)}\n`).join('')
}
