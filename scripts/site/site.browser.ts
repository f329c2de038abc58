// The documentation site in the system's Chromium, as a reader sees it.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { extname, join, normalize } from 'node:path'
import { type Browser, browserPath, startBrowser } from '@everlong/viewer/testing'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { buildSite } from './build.ts'
import { siteSections } from './pages.ts'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
}

/** Like a static host: `/a` is `a.html`, a folder is its `index.html`. */
function fileFor(folder: string, path: string): string | undefined {
  const place = join(folder, normalize(decodeURIComponent(path)))
  const candidates = [place, `${place}.html`, join(place, 'index.html')]
  return candidates.find((file) => existsSync(file) && statSync(file).isFile())
}

/** Building the site takes 20 seconds alone, and many times that on a busy machine. */
const buildTimeout = 480_000

describe.skipIf(browserPath === undefined)('the site (skipped where there is no Chromium)', () => {
  const folder = mkdtempSync(join(tmpdir(), 'everlong-site-'))
  const server = createServer(({ url = '/' }, response) => {
    const file = fileFor(folder, new URL(url, 'http://host').pathname)
    response.writeHead(file ? 200 : 404, {
      'content-type': types[extname(file ?? '.html')] ?? 'application/octet-stream',
    })
    response.end(file ? readFileSync(file) : 'not found')
  })
  let address = ''
  let browser: Browser

  beforeAll(async () => {
    await buildSite({ outDir: folder })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    browser = await startBrowser()
  }, buildTimeout)
  afterEach(() => browser?.closePages())
  afterAll(async () => {
    await browser?.close()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })

  // One test for each page, so that a busy machine has time for each and a failure names its page.
  const links = new Set<string>()
  test.each(siteSections().flatMap(({ pages }) => pages))(
    '$path has its title, asks no other host, and has no errors',
    async ({ path, title }) => {
      const { page, seen } = await browser.open()
      await page.goto(`${address}/${path.replace(/(index)?\.md$/, '')}`, { waitUntil: 'domcontentloaded' })
      // Without the symbol of the link to the heading.
      const heading = (await page.locator('h1').first().textContent())?.replace(/[\s\u200b]+$/, '')
      expect(heading).toBe(title.replaceAll('`', ''))
      const shown = "[...document.querySelectorAll('main a[href], main img[src]')].map((one) => one.href ?? one.src)"
      for (const link of await page.evaluate<string[]>(shown))
        if (link.startsWith(address)) links.add(link.replace(/#.*/, ''))
      expect(seen.requests.filter((url) => !url.startsWith(address))).toEqual([])
      expect(seen.problems).toEqual([])
      await page.close()
    },
  )

  test('every link and picture on these pages leads somewhere on this host', () => {
    const broken = [...links].filter((link) => !fileFor(folder, new URL(link).pathname))
    expect(broken).toEqual([])
    expect(links.size).toBeGreaterThan(50)
  })

  test('search finds a page by a word of its text', async () => {
    const { page, seen } = await browser.open()
    await page.goto(address)
    await page
      .getByRole('button', { name: /search/i })
      .first()
      .click()
    await page.getByRole('searchbox').fill('autoCompactAt')
    const result = page.locator('.VPLocalSearchBox .result').first()
    await result.waitFor()
    await result.click()
    await page.waitForURL(/\/(settings|tokens|cost|engine|changelog)/)
    expect(seen.requests.filter((url) => !url.startsWith(address))).toEqual([])
  })

  test.each(['light', 'dark'] as const)('on a phone, %s: nothing is wider than the screen', async (scheme) => {
    const { page } = await browser.open({ width: 390, scheme })
    for (const path of ['/', '/getting-started.html', '/cost.html', '/settings.html']) {
      await page.goto(address + path)
      const isDark = await page.evaluate("document.documentElement.classList.contains('dark')")
      expect(isDark).toBe(scheme === 'dark')
      const over = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
      expect([path, over]).toEqual([path, 0])
    }
  })

  test('the playground and the texts for models are part of it', async () => {
    const { page, seen } = await browser.open()
    await page.goto(address)
    await page.getByRole('link', { name: 'Playground' }).first().click()
    await page
      .getByRole('heading', { name: /playground|transcript/i })
      .first()
      .waitFor()
    expect(seen.problems).toEqual([])
    expect((await page.goto(`${address}/llms.txt`))?.status()).toBe(200)
    expect((await page.goto(`${address}/llms-full.txt`))?.status()).toBe(200)
  })
})
