// The system's Chromium, with an empty profile, and everything that a page tried to do.
import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium, type Page } from 'playwright-core'

const places = [
  process.env.CHROMIUM ?? '',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

/** Undefined if this machine has none. */
export const browserPath = places.find((path) => path !== '' && existsSync(path))

const flags = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--host-resolver-rules=MAP evil.example 127.0.0.1',
]

export type Seen = {
  /** Addresses that were asked for. */
  readonly requests: string[]
  /** Errors and dialogs of the page, and what its content policy refused. */
  readonly problems: string[]
}

export type Tab = { readonly page: Page; readonly seen: Seen }

export type Browser = {
  readonly open: (options?: { readonly width?: number; readonly scheme?: 'light' | 'dark' }) => Promise<Tab>
  /** Those that a failed test left open hold connections. */
  readonly closePages: () => Promise<void>
  readonly close: () => Promise<void>
}

/** A name that leads to this machine, as a stranger's name server could say. */
export const strangeHost = 'evil.example'

export async function startBrowser(): Promise<Browser> {
  const profile = mkdtempSync(join(tmpdir(), 'everlong-browser-'))
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: browserPath ?? '',
    headless: true,
    args: flags,
    permissions: ['clipboard-read', 'clipboard-write'],
  })
  // A busy machine takes long to start the readers.
  context.setDefaultTimeout(60_000)
  return {
    open: async ({ width = 1280, scheme = 'light' } = {}) => {
      const page = await context.newPage()
      await page.setViewportSize({ width, height: 900 })
      await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' })
      return { page, seen: watch(page) }
    },
    closePages: async () => {
      for (const page of context.pages().slice(1)) await page.close()
    },
    close: async () => {
      await context.close()
      rmSync(profile, { recursive: true, force: true })
    },
  }
}

function watch(page: Page): Seen {
  const seen: Seen = { requests: [], problems: [] }
  page.on('request', (request) => seen.requests.push(request.url()))
  page.on('pageerror', (error) => seen.problems.push(error.message))
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') seen.problems.push(message.text())
  })
  page.on('dialog', (dialog) => {
    seen.problems.push(`dialog: ${dialog.message()}`)
    dialog.dismiss().catch(() => undefined)
  })
  return seen
}
