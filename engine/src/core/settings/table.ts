// Every setting of an engine: name, rule, default, environment variables. The types, the checks, the defaults and
// docs/settings.md are made from this table; a comment here is the text of that page.
import { toolKinds } from '../tools/call.ts'
import * as rules from './rules.ts'
import { boolean, type Complete, flag, type Given, oneOf, setting } from './rules.ts'

export const settingsTable = {
  /**
   * When the context is compacted. `auto`: at the threshold, and when the provider says that the prompt is too long. `ask`: the
   * same, if the engine's `ask` agrees. `reactive`: only when the provider says so. `manual`: only `session.compact()`. `off`:
   * never, and nothing is cleared.
   */
  compaction: setting(oneOf('auto', 'ask', 'reactive', 'manual', 'off'), 'auto', {
    environment: [flag('DISABLE_COMPACT', 'off'), flag('DISABLE_AUTO_COMPACT', 'manual', 'off')],
  }),
  /**
   * Compact at this size: a number of tokens or a percentage of the effective window, for every model or by model (the longest
   * prefix of its id counts). Obeyed from 3,000 tokens up to the blocking limit; another value is capped, with a warning.
   * Default: the effective window less 13,000 tokens; in a window below 200,000 less in proportion (2,080 at 32,000).
   */
  autoCompactAt: setting(rules.oneOrByName(rules.mark), undefined, {
    environment: [
      { type: 'percent', name: 'EVERLONG_AUTOCOMPACT_PCT' },
      { type: 'percent', name: 'CLAUDE_AUTOCOMPACT_PCT_OVERRIDE' },
    ],
  }),
  /** The newest messages that an automatic compaction keeps verbatim, at most half of the compaction's target. */
  keep: setting(rules.either(rules.messages, rules.only('tokens', rules.anyTokens)), 0),
  /** An automatic compaction must get below this share of the threshold. */
  target: setting(rules.share, 0.6),
  /**
   * What a session may cost ([cost.md](cost.md)). `default` clears results of finished turns, and compacts once carrying the
   * context has cost twice as much as a compaction. `thrifty` compacts as soon as that pays. `claude-code` clears late and
   * compacts only at the threshold.
   */
  economy: setting(oneOf('default', 'thrifty', 'claude-code'), 'default'),
  /** The agent has the recall tool, so all text that replaces removed content says how to read the original. */
  recall: setting(boolean, false),
  /** The agent works alone: after a compaction it continues without waiting for a person. */
  isAutonomous: setting(boolean, false),
  /** Summarize finished parts in the background, and use the summaries when the context is full ([collapse.md](collapse.md)). */
  collapse: setting(boolean, false, { environment: [flag('CLAUDE_CONTEXT_COLLAPSE', true)] }),
  /** Prepare a compaction in the background from this share of the threshold on. `true` means 0.8. */
  background: setting(rules.either(boolean, rules.only('from', rules.share)), false),
  /** Maximum time for `ask`. No answer means no. */
  askTimeoutMs: setting(rules.milliseconds, 60_000),
  /** The window of the model. The variables can only make it smaller, for experiments. Default: the model's. */
  contextWindow: setting(rules.tokens, undefined, {
    environment: [
      { type: 'cap', name: 'EVERLONG_AUTO_COMPACT_WINDOW' },
      { type: 'cap', name: 'CLAUDE_CODE_AUTO_COMPACT_WINDOW' },
    ],
  }),
  /**
   * The longest answer, including summaries. It is reserved in the window, up to 20,000 tokens and 15 % of the window. The limit
   * is lowered for a request that would otherwise exceed the window. Default: the model's.
   */
  maxOutputTokens: setting(rules.tokens),
  /**
   * No request is sent at this size or above. Default: the effective window less 3,000 tokens, or proportionally less in a window
   * below 200,000.
   */
  blockingLimit: setting(rules.tokens, undefined, {
    environment: [
      { type: 'number', name: 'EVERLONG_BLOCKING_LIMIT' },
      { type: 'number', name: 'CLAUDE_CODE_BLOCKING_LIMIT_OVERRIDE' },
    ],
  }),
  /** How many tokens before the limit the gauge turns yellow. Default: 20,000 or 10 % of the window, at most a quarter of the limit. */
  warningDistance: setting(rules.distance),
  /** How many tokens before the limit the gauge turns red. Default: 20,000 or 10 % of the window, at most a quarter of the limit. */
  errorDistance: setting(rules.distance),
  /**
   * Marks for the prompt cache, by lifetime; `auto` chooses the cheaper one by the pauses of the session ([cost.md](cost.md)); `false` for
   * none. Marks of the host stay, and count towards the four.
   */
  cacheMarks: setting(oneOf(false, '5m', '1h', 'auto'), '5m'),
  /**
   * Compact just before the cache of an idle session expires, if that is expected to pay ([cost.md](cost.md)). It uses a timer,
   * so it is meant for programs with one user, not for servers.
   */
  compactWhenIdle: setting(boolean, false),
  /** How tokens are estimated ([tokens.md](tokens.md)). */
  estimator: setting(oneOf('fitted', 'chars/4'), 'fitted'),

  /** Summaries */
  summary: {
    fields: {
      /** A model that only summarizes. It cannot share the conversation's cache. Default: the conversation's model. */
      model: setting(rules.text),
      /** Append the request for the summary to the conversation's own request, so that it reads the prompt cache. */
      shareCache: setting(boolean, true),
      /** If no model could write a summary, write one without: `always`, only after an `overflow`, or `never`. */
      offline: setting(oneOf('always', 'overflow', 'never'), 'always'),
      /**
       * Tokens of the summary, the user's words, the state and the record together. Default: 12,000; 6 % of a window above
       * 200,000 tokens; at most 15 % of a smaller one.
       */
      handoverTokens: setting(rules.tokens),
      /** Tokens that the model may use for its summary; at most two thirds of `handoverTokens`. */
      summaryTokens: setting(rules.tokens, 8_000),
      /** Tokens of restored context, all kinds together. */
      restoreTokens: setting(rules.anyTokens, 50_000),
      /** Thinking in kept messages, on a model that binds it to the prefix: `remove` it, or `decline` the compaction. */
      boundThinking: setting(oneOf('remove', 'decline'), 'remove'),
      /** `on-demand` tries the provider's own compaction first, if there is one. */
      serverCompaction: setting(oneOf('off', 'on-demand'), 'off'),
    },
  },

  /** Clearing without a summary */
  reductions: {
    fields: {
      /** When old tool results are cleared; `false` for never. */
      microCompact: setting(oneOf(false, 'above-warning', 'always'), 'always', {
        late: 'above-warning',
      }),
      /** Clear only if it pays. `false` clears at any cost. */
      weigh: setting(boolean, true),
      /** Tools, by exact name, whose results the agent can get again. */
      reproducible: setting(rules.texts, []),
      /** The kinds of your own tools, by name; `null` for a tool that is not what its name suggests. */
      toolKinds: setting(rules.byName(oneOf(...toolKinds, null)), {}),
      /** On a model that binds thinking to the prefix: let the server clear (`delegate`), `remove` the thinking, or `decline`. */
      boundThinking: setting(oneOf('delegate', 'remove', 'decline'), 'delegate'),
      /** The newest results stay even after their turn has ended. `false` clears them once a person has spoken again. */
      keepFinished: setting(boolean, false, { late: true }),
      /** Clear long inputs of writing tools together with their results; not with cache edits. */
      clearInputs: setting(boolean, true, { late: false }),
      bySize: {
        fields: {
          /** Number of newest results that stay. */
          keep: setting(rules.wholeNumber(), 3),
          /** Tokens of tool results that may stay. */
          target: setting(rules.anyTokens, 10_000, { late: 40_000 }),
          /** Freeing less is not worth breaking the cache. */
          minFreed: setting(rules.anyTokens, 20_000),
        },
      },
      byIdle: {
        fields: {
          /**
           * The cache is cold after a pause of this length, and results are cleared. Always 60 with `cacheMarks: '1h'` or
           * `'auto'`.
           */
          minutes: setting(rules.minutes, 5, { late: 60 }),
          /** Number of newest results that stay. */
          keep: setting(rules.wholeNumber(), 3, { late: 5 }),
        },
      },
      byCacheEdit: {
        fields: {
          /**
           * Number of results at which they are cleared, if the provider edits its cache. Without `keepFinished` also if it
           * cannot.
           */
          trigger: setting(rules.wholeNumber(), 6, { late: 12 }),
          /** Number of newest results that stay. Without `keepFinished` only those of the current turn. */
          keep: setting(rules.wholeNumber(), 8, { late: 5 }),
        },
      },
      native: {
        fields: {
          /** The server clears tool results. A session asks the server only if `native` is set. */
          toolResults: setting(boolean, true),
          /** The server also clears the inputs of the tools. */
          toolInputs: setting(boolean, true),
          /** The server clears old thinking. */
          thinking: setting(boolean, true),
          /** The size at which the server clears. */
          trigger: setting(rules.anyTokens, 180_000),
          /** Tokens of tool results that the server leaves. */
          keepTokens: setting(rules.anyTokens, 40_000),
          /** Freeing less is not worth breaking the cache. */
          clearAtLeast: setting(rules.anyTokens, 20_000),
          /** After a pause of this length only the thinking of the last turn stays. */
          idleMinutes: setting(rules.minutes, 60),
        },
      },
    },
  },

  /** Session memory */
  sessionMemory: {
    or: boolean,
    fields: {
      /**
       * Take notes in the background with separate requests. A compaction can use the notes at once. `sessionMemory: true` turns
       * them on.
       */
      isOn: setting(boolean, false, { late: true }),
      /** Tokens that the conversation must have before the first notes. */
      minTokens: setting(rules.anyTokens, 10_000),
      /** Tokens by which the conversation must have grown since the last notes. */
      growth: setting(rules.anyTokens, 5_000),
      /** Tool calls since the last notes, unless the turn had none. */
      toolCalls: setting(rules.wholeNumber(), 3),
      keep: {
        fields: {
          /** Minimum tokens that stay verbatim when the notes become the summary. */
          minTokens: setting(rules.anyTokens, 10_000),
          /** Maximum tokens that stay verbatim. */
          maxTokens: setting(rules.anyTokens, 40_000),
          /** Minimum number of messages with text that stay verbatim. */
          minMessages: setting(rules.wholeNumber(), 5),
        },
      },
    },
  },
}

/** The settings of `createEngine()`. [settings.md](../settings.md) has the defaults and the environment variables. */
export type EngineSettings = Given<typeof settingsTable>

/** The settings of `createEngine()` with all defaults filled in. */
export type Settings = Complete<typeof settingsTable>

/** Settings and options of 0.1 that have new names. */
export const renamedSettings: Readonly<Record<string, string>> = {
  autoCompactPercent: 'autoCompactAt, for example autoCompactAt: "80%"',
  autoCompactWindow: 'contextWindow',
  mostConversations: 'maxConversations',
  'reductions.bySize.least': 'reductions.bySize.minFreed',
  'sessionMemory.first': 'sessionMemory.minTokens',
  'sessionMemory.keep.tokens': 'sessionMemory.keep.minTokens',
  'sessionMemory.keep.mostTokens': 'sessionMemory.keep.maxTokens',
  'sessionMemory.keep.messages': 'sessionMemory.keep.minMessages',
}
