// Erases the frame when the terminal becomes narrower. Terminals then wrap its lines, but ink erases as many rows as it wrote, so
// the first rows of the old frame would stay on the screen.
import { stripVTControlCharacters } from 'node:util'
import { columnsOf } from '../render/width.ts'
import type { Drawing } from './draw/drawing.ts'
import type { TerminalOutput } from './options.ts'

/** A frame as it is on the screen. Ink has cut longer lines at `columns`. */
export type Frame = Drawing & { readonly columns: number }

const eraseDown = '\u001b[J'
/** The first row is erased separately, because tmux puts a screen that is erased from its first cell into the scrollback. */
const eraseRowsDown = `\u001b[2K\u001b[B${eraseDown}\u001b[A`

/**
 * Moves to the first row of a frame that was wrapped at `columns`, and erases from there. Only for terminals that keep the cursor
 * at its character, as tmux does: xterm.js moves it down when lines below it wrap. Without a cursor of its own, a frame leaves
 * the terminal's below its last line.
 */
export function eraseWrapped(frame: Frame, columns: number): string {
  const { lines, cursor } = frame
  const { x, y } = cursor ?? { x: 0, y: lines.length }
  const rows = wrappedRows({ ...frame, lines: lines.slice(0, y) }, columns) + Math.floor(x / columns)
  const up = rows > 0 ? `\u001b[${rows}A` : ''
  return `\r${up}${eraseRowsDown}`
}

function wrappedRows({ lines, columns: before }: Frame, columns: number): number {
  const rowsOf = (line: string) => Math.ceil(Math.min(before, columnsOf(stripVTControlCharacters(line))) / columns)
  return lines.reduce((sum, line) => sum + Math.max(1, rowsOf(line)), 0)
}

export type EraserOptions = {
  readonly stdout: TerminalOutput
  /** The terminal wraps lines and keeps the cursor at its character. Otherwise nothing is erased. */
  readonly isWrapping: boolean
  /** Emits `resize` at once if the terminal's size differs from `stdout`. */
  readonly checkSize: () => void
  /** Lets ink forget its frame. Output during that time is dropped. */
  readonly forget: () => void
  readonly redraw: () => void
}

export type FrameEraser = {
  /** The output for ink. */
  readonly write: TerminalOutput['write']
  /**
   * The drawing as it is to be shown. After the frame was erased it takes the same rows until lines are printed above it: empty rows
   * below it would push its first rows into the scrollback when the terminal becomes narrower again.
   */
  readonly fit: (drawing: Frame, isPrinting: boolean) => Frame
  readonly onRender: () => void
  /** Call it before ink gets the event. */
  readonly onResize: () => void
}

/** Ink writes these around every update of the screen. */
const begin = '\u001b[?2026h'
const end = '\u001b[?2026l'

/**
 * Erases the frame of ink when the terminal becomes narrower. Node hears of that only between two updates. One that is under way then
 * would move by the rows of the old frame, so the size is looked at before each. If it has changed, nothing of the update but
 * finished lines is written, and the frame is drawn again.
 */
export function createFrameEraser({ stdout, isWrapping, checkSize, forget, redraw }: EraserOptions): FrameEraser {
  let drawing: Frame | undefined
  let shown: Frame | undefined
  /** Ink has not noticed yet. */
  let isErased = false
  let reserved = 0
  let isMuted = false
  let update: string[] | undefined
  const muted = (run: () => void) => {
    isMuted = true
    run()
    isMuted = false
  }
  const tellInk = () => {
    isErased = false
    muted(forget)
  }
  const write = (text: string, ...rest: readonly never[]): boolean => {
    if (isMuted) return true
    if (isWrapping && text === begin) {
      muted(checkSize)
      if (!isErased) return stdout.write(text)
      update = []
      return true
    }
    if (!update) return stdout.write(isWrapping ? text.replaceAll(eraseDown, eraseRowsDown) : text, ...rest)
    if (text !== end) {
      update.push(text)
      return true
    }
    const written = finishedLines(update)
    update = undefined
    setImmediate(() => {
      if (!isErased) return
      tellInk()
      redraw()
    })
    return stdout.write(written)
  }
  return {
    write: write as TerminalOutput['write'],
    fit: (frame, isPrinting) => {
      if (isPrinting) reserved = 0
      drawing = withRows(frame, Math.min(reserved, (stdout.rows ?? 24) - 1))
      return drawing
    },
    onRender: () => {
      const { columns = 80 } = stdout
      shown = isErased || !drawing ? undefined : { ...drawing, columns: Math.min(drawing.columns, columns) }
    },
    onResize: () => {
      const { columns = 80 } = stdout
      const isNarrower = shown !== undefined && columns < shown.columns
      if (isWrapping && shown && (isNarrower || isMuted)) {
        stdout.write(eraseWrapped(shown, columns))
        reserved = wrappedRows(shown, columns)
        shown = undefined
        isErased = true
      }
      if (isErased && !isMuted) tellInk()
    },
  }
}

/** Adds empty lines above it. */
function withRows(frame: Frame, rows: number): Frame {
  const { lines, cursor } = frame
  const missing = rows - lines.length
  if (missing <= 0) return frame
  return {
    ...frame,
    lines: [...Array.from({ length: missing }, () => ''), ...lines],
    ...(cursor ? { cursor: { x: cursor.x, y: cursor.y + missing } } : {}),
  }
}

/** An update with lines for the scrollback has three parts: ink erases the frame, then writes the lines, then the new frame. */
function finishedLines(update: readonly string[]): string {
  return update.length === 3 ? (update[1] ?? '') : ''
}
