// `npm run bench -- tokens`: how far off the estimate is, by category and on real sessions, and how fast it is.
import { availableParallelism, loadavg } from 'node:os'
import { basename } from 'node:path'
import { estimateTokens } from 'everlong'
import { textOf } from 'everlong/internal'
import { defineBenchmark } from '../benchmark.ts'
import { versionsOf } from '../peers/versions.ts'
import { transcriptFolder } from '../root.ts'
import { samplesOf } from './corpus.ts'
import { growthByModel } from './growth.ts'
import { type CategoryErrors, type TokensReport, tokensPage, tokensTargets } from './page.ts'
import { type ErrorFigures, figuresOf, predictionErrors } from './prediction.ts'
import { estimators } from './rivals.ts'
import type { Sample, Split } from './sample.ts'
import { readAnswers, sessionFiles } from './sessions.ts'
import { sources } from './sources.ts'
import { measureSpeed } from './speed.ts'
import { countExactly, type Vocabulary, vocabularies } from './truth.ts'

export const benchmark = defineBenchmark({ name: 'tokens', run, page: tokensPage, targets: tokensTargets })

function run(): TokensReport {
  return makeReport(samplesOf('test'), transcriptFolder())
}

function makeReport(samples: readonly Sample[], folder: string | undefined): TokensReport {
  const categories = errorsByCategory([...samples, ...(folder === undefined ? [] : agentSamples(folder))])
  const held = categories.filter(({ category }) => category !== agentText)
  return {
    versions: {
      node: process.versions.node,
      v8: process.versions.v8,
      ...versionsOf(['gpt-tokenizer', 'js-tiktoken', 'tokenx']),
    },
    machine: { cores: availableParallelism(), load: loadavg()[0] ?? 0 },
    trainedOn: sourcesOf('train'),
    testedOn: sourcesOf('test'),
    freshSources: sourcesOf('fresh'),
    overall: {
      bySample: meanOf(held),
      byCategory: held.reduce((sum, { errors }) => sum + errors.o200k.fitted.mean, 0) / held.length,
    },
    categories,
    fresh: freshErrors(),
    rivals: rivalErrors([...samples, ...samplesOf('fresh')]),
    speed: measureSpeed(samples),
    sessions: folder === undefined ? 'skipped: no transcripts here' : sessionFigures(folder),
    growth: folder === undefined ? [] : growthByModel(sessionFiles(folder).map((file) => readAnswers(file))),
  }
}

function sourcesOf(split: Split): readonly string[] {
  return sources.filter((source) => source.split === split).map(({ name }) => name)
}

function freshErrors(): TokensReport['fresh'] {
  const samples = samplesOf('fresh')
  const categories = errorsByCategory(samples)
  return { bySample: meanOf(categories), samples: samples.length, categories }
}

function meanOf(categories: readonly CategoryErrors[]): number {
  const counted = categories.reduce((sum, { samples }) => sum + samples, 0)
  return categories.reduce((sum, { samples, errors }) => sum + samples * errors.o200k.fitted.mean, 0) / counted
}

function errorsByCategory(samples: readonly Sample[]): readonly CategoryErrors[] {
  const groups = Map.groupBy(samples, ({ category }) => category)
  return [...groups].map(([category, members]) => ({
    category,
    samples: members.length,
    errors: Object.fromEntries(
      vocabularies.map((vocabulary) => [vocabulary, errorsOf(members, vocabulary)]),
    ) as CategoryErrors['errors'],
  }))
}

function errorsOf(samples: readonly Sample[], vocabulary: Vocabulary) {
  const truths = samples.map(({ text }) => countExactly(text, vocabulary))
  const errors = (estimate: (text: string) => number) =>
    figuresOf(samples.map(({ text }, index) => estimate(text) / (truths[index] ?? 1) - 1))
  return { fitted: errors(estimateTokens), charsOver4: errors((text) => text.length / 4) }
}

/** The mean error of everybody who guesses, by category, over the held-out and the fresh samples. */
function rivalErrors(samples: readonly Sample[]): TokensReport['rivals'] {
  const groups = Map.groupBy(samples, ({ category }) => category)
  return [...groups].map(([category, members]) => {
    const truths = members.map(({ text }) => countExactly(text, 'o200k'))
    const mean = (count: (text: string) => number) =>
      figuresOf(members.map(({ text }, index) => count(text) / (truths[index] ?? 1) - 1)).mean
    const errors = Object.fromEntries(estimators.map(({ name, count }) => [name, mean(count)]))
    return { category, samples: members.length, errors }
  })
}

/** Not part of the mean: not everyone has it. */
const agentText = 'real agent text'

/** What models really get to read: the longer texts of real sessions, at most 4,000 characters of each. */
function agentSamples(folder: string): readonly Sample[] {
  return sessionFiles(folder).flatMap((file) => {
    const texts = readAnswers(file).flatMap(({ before, own }) =>
      [...before, ...own].map(({ content }) => textOf(content)),
    )
    const long = texts.filter((text) => text.length >= 400)
    const every = Math.max(1, Math.floor(long.length / 60))
    return long
      .filter((_, index) => index % every === 0)
      .map((text) => ({ category: agentText, source: basename(file), text: text.slice(0, 4_000).toWellFormed() }))
  })
}

function sessionFigures(folder: string): readonly (ErrorFigures & { readonly name: string })[] {
  const sessions = sessionFiles(folder)
    .map((file) => ({ name: basename(file, '.jsonl').slice(0, 24), errors: predictionErrors(readAnswers(file)) }))
    .filter(({ errors }) => errors.length > 0)
  const all = { name: 'all turns', errors: sessions.flatMap(({ errors }) => errors) }
  return [...sessions, all].map(({ name, errors }) => ({ name, ...figuresOf(errors) }))
}
