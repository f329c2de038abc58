// llms.txt and llms-full.txt: the documentation for models (https://llmstxt.org).
import type { SiteSection } from './pages.ts'

/** Every page with its address and its topic. */
export function llmsIndex(sections: readonly SiteSection[]): string {
  const [front] = sections[0]?.pages ?? []
  const parts = sections.slice(1).map(({ title, pages }) => {
    const lines = pages.map(
      (page) => `- [${page.title}](/${page.path})${page.about === '' ? '' : `: ${shortened(page.about)}`}`,
    )
    return [`## ${title}`, '', ...lines].join('\n')
  })
  return `${[`# ${front?.title}`, `> ${front?.about}`, ...parts].join('\n\n')}\n`
}

/** The pages themselves, for a model that can read them all. Omits measurements and decisions. */
export function llmsFull(sections: readonly SiteSection[]): string {
  const pages = sections.filter(({ isFolded }) => !isFolded).flatMap((section) => section.pages)
  return pages.map(({ path, text }) => `<!-- /${path} -->\n\n${text.trim()}\n`).join('\n')
}

const maxAbout = 200

/** Whole sentences up to the limit, or the first words. */
function shortened(text: string): string {
  if (text.length <= maxAbout) return text
  const end = text.slice(0, maxAbout).lastIndexOf('. ')
  return end > 0 ? text.slice(0, end + 1) : `${text.slice(0, text.lastIndexOf(' ', maxAbout))} …`
}
