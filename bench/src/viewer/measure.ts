// Drives `everlong view` in a browser and measures what a person would notice.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { join } from 'node:path'
import { type Browser, startBrowser, type Tab } from '@everlong/viewer/testing'
import { root } from '../root.ts'

export type Opened = {
  readonly page: Tab['page']
  readonly origin: string
  readonly serverMegabytes: () => number
  readonly pageMegabytes: () => Promise<number>
  /** Stops the server and starts another one on the same sessions. */
  readonly again: () => Promise<Opened>
  readonly close: () => Promise<void>
}

/** On the list of the sessions at `path`. */
export async function openViewer(path: string, cache: string): Promise<Opened> {
  const { server, url } = await startServer(path, cache)
  const browser: Browser = await startBrowser()
  const { page } = await browser.open()
  page.setDefaultTimeout(120_000)
  await page.goto(url)
  const close = async () => {
    await browser.close()
    server.kill()
    await new Promise((ended) => server.once('exit', ended))
  }
  return {
    page,
    origin: new URL(url).origin,
    serverMegabytes: () => Number(execFileSync('ps', ['-o', 'rss=', '-p', String(server.pid)])) / 1_000,
    pageMegabytes: async () => {
      const client = await page.context().newCDPSession(page)
      await client.send('HeapProfiler.collectGarbage')
      const { usedSize } = await client.send('Runtime.getHeapUsage')
      return usedSize / 1e6
    },
    again: async () => {
      await close()
      return openViewer(path, cache)
    },
    close,
  }
}

async function startServer(path: string, cache: string): Promise<{ server: ChildProcess; url: string }> {
  const args = [join(root, 'cli/src/main.ts'), 'view', path, '--no-open']
  const env = { ...process.env, EVERLONG_CACHE_DIR: cache }
  const server = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const url = await new Promise<string>((found) => {
    let text = ''
    server.stdout?.setEncoding('utf8').on('data', (part: string) => {
      text += part
      const [, address] = /^Open (\S+)$/m.exec(text) ?? []
      if (address !== undefined) found(address)
    })
  })
  return { server, url }
}

export type SessionFigures = {
  readonly firstPaintMs: number
  readonly messagesMs: number
  readonly chartMs: number
  readonly lostMs: number
  readonly findMs: number
  readonly jumpMs: number
  readonly framesPerSecond: number
  readonly slowFrameMs: number
  readonly blankFramesPerSecond: number
  readonly pageMegabytes: number
  readonly serverMegabytes: number
}

/** Milliseconds since the address was opened. */
const sinceOpened = 'performance.now()'
const firstPaint = 'performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0'

/** Waits until the list is complete, so that nothing else runs during a measurement. */
export async function measureSession(viewer: Opened): Promise<SessionFigures> {
  const { page, origin } = viewer
  await page.getByText(/^1 session$/).waitFor()
  const link = await page.locator('a.line').first().getAttribute('data-link')
  await page.goto(`${origin}${link}`)
  const reached = async (selector: string): Promise<number> => {
    await page.locator(selector).first().waitFor()
    return page.evaluate(sinceOpened)
  }
  const messagesMs = await reached('article.item')
  const chartMs = await reached('.chart svg .band')
  const lostMs = await reached('section[aria-label="Lost"] :is(li, p.empty)')
  const findMs = await timed(async () => {
    await page.getByLabel('Find in this session').fill('zebra crossing')
    await page.getByLabel('Find in this session').press('Enter')
    await page.locator('search [role=status]', { hasText: '0 items' }).waitFor()
  })
  const { frames, slow } = await scrolling(page, '.talk')
  const jumpMs = await timed(async () => {
    await page.getByRole('slider').click()
    await page.locator('article.item.here').waitFor()
  })
  const figures = {
    firstPaintMs: await page.evaluate<number>(firstPaint),
    ...{ messagesMs, chartMs, lostMs, findMs, jumpMs },
    ...{ framesPerSecond: frames, slowFrameMs: slow },
    pageMegabytes: await viewer.pageMegabytes(),
    serverMegabytes: viewer.serverMegabytes(),
  }
  return { ...figures, blankFramesPerSecond: await blankFrames(page) }
}

export type ListFigures = {
  readonly firstPaintMs: number
  readonly listMs: number
  readonly readMs: number
  readonly againMs: number
  readonly filterMs: number
  readonly firstSearchMs: number
  readonly searchMs: number
  readonly framesPerSecond: number
  readonly pageMegabytes: number
  readonly serverMegabytes: number
}

/** Closes the viewer. */
export async function measureList(first: Opened): Promise<ListFigures> {
  const listMs = await timeOf(first.page, 'a.line')
  const firstPaintMs = await first.page.evaluate<number>(firstPaint)
  const readMs = await timeWhenRead(first.page)
  const viewer = await first.again()
  const againMs = await timeWhenRead(viewer.page)
  const { page } = viewer
  const filterMs = await timed(async () => {
    await page.getByLabel('Filter by title, project or path').fill('9999.jsonl')
    // Not waitForFunction(), whose eval() the content policy of the page refuses.
    await page.locator('a.line').nth(1).waitFor({ state: 'detached' })
    await page.locator('a.line').waitFor()
  })
  await page.getByLabel('Filter by title, project or path').fill('')
  const { frames } = await scrolling(page, '.talk')
  const search = (words: string) =>
    timed(async () => {
      await page.getByLabel('Search everything that was said in all sessions').fill(words)
      await page.getByRole('button', { name: 'Search' }).click()
      await page.locator('[aria-label=Matches], p.message').first().waitFor()
      await page.getByText('Reading all text').waitFor({ state: 'detached' })
    })
  const figures = { firstPaintMs, listMs, readMs, againMs, filterMs, framesPerSecond: frames }
  const searches = { firstSearchMs: await search('error retry'), searchMs: await search('cache failed') }
  const memory = { pageMegabytes: await viewer.pageMegabytes(), serverMegabytes: viewer.serverMegabytes() }
  await viewer.close()
  return { ...figures, ...searches, ...memory }
}

async function timeOf(page: Tab['page'], selector: string): Promise<number> {
  await page.locator(selector).first().waitFor()
  return page.evaluate(sinceOpened)
}

async function timeWhenRead(page: Tab['page']): Promise<number> {
  await page.getByText(/^[\d,]+ sessions$/).waitFor()
  return page.evaluate(sinceOpened)
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

type Scrolled = { readonly frames: number; readonly slow: number }

/** Three seconds of scrolling, a good deal faster than anybody reads. As text, because it runs in the page. */
const scrollFrames = `async (selector) => {
  const list = document.querySelector(selector)
  const times = []
  await new Promise((done) => {
    const step = (now) => {
      times.push(now)
      list.scrollTop += 60
      if (now - times[0] < 3_000) requestAnimationFrame(step)
      else done()
    }
    requestAnimationFrame(step)
  })
  return times
}`

async function scrolling(page: Tab['page'], selector: string): Promise<Scrolled> {
  const times = await page.evaluate<readonly number[]>(`(${scrollFrames})(${JSON.stringify(selector)})`)
  const waits = times.slice(1).map((time, at) => time - (times[at] ?? time))
  const all = (times.at(-1) ?? 0) - (times[0] ?? 0)
  return {
    frames: (waits.length / all) * 1_000,
    slow: waits.toSorted((a, b) => a - b)[Math.floor(waits.length * 0.95)] ?? 0,
  }
}

async function blankFrames(page: Tab['page']): Promise<number> {
  await page.goto('about:blank')
  return (await scrolling(page, 'html')).frames
}
