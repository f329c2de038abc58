// The input of Grep, with names that models know.
import { z } from 'zod'

const around = (what: string) => z.int().min(0).max(100).optional().describe(`Lines to show ${what} each match.`)

export const input = z.object({
  pattern: z.string().min(1).max(10_000).describe('A regular expression.'),
  path: z.string().optional().describe('The file or folder to search. Default: the workspace.'),
  glob: z.string().max(1_000).optional().describe('Only files that match, such as *.ts or src/**/*.{js,ts}.'),
  type: z.string().optional().describe('Only files of this type, such as ts, py or rust.'),
  output_mode: z
    .enum(['content', 'files_with_matches', 'count'])
    .optional()
    .describe(
      'content: matching lines. files_with_matches (default): paths, newest first. count: matching lines per file.',
    ),
  '-i': z.boolean().optional().describe('Ignore case.'),
  '-n': z.boolean().optional().describe('Show line numbers. Default: true.'),
  '-A': around('after'),
  '-B': around('before'),
  '-C': around('before and after'),
  multiline: z.boolean().optional().describe('Let the pattern match across lines; then . matches line ends.'),
  head_limit: z
    .int()
    .min(1)
    .max(1_000)
    .optional()
    .describe('The maximum number of lines or files to show. Default: 200.'),
})

export type GrepInput = z.infer<typeof input>
