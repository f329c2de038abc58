// Packages that nothing was fitted to, and that came after the choices were made; what was looked at since, the page says.
import { escapedStrings, quoted } from './readers.ts'
import type { Source } from './sample.ts'

export const freshSources: readonly Source[] = [
  {
    name: 'axios@1.21.1',
    split: 'fresh',
    parts: [
      { category: 'markdown', files: /\.md$/ },
      { category: 'javascript', files: /^lib\/.*\.js$/ },
      { category: 'minified', files: /\.min\.js$/ },
      { category: 'source-map', files: /\.map$/ },
    ],
  },
  {
    name: 'ajv@8.20.0',
    split: 'fresh',
    parts: [
      { category: 'typescript', files: /^lib\/.*\.ts$/ },
      { category: 'json', files: /^lib\/refs\/.*\.json$/ },
    ],
  },
  {
    name: 'moment@2.31.0',
    split: 'fresh',
    parts: [
      { category: 'markdown', files: /\.md$/ },
      { category: 'javascript', files: /^src\/lib\/.*\.js$/ },
      { category: 'minified', files: /^min\/moment\.min\.js$/ },
      { category: 'other-scripts', files: /^src\/locale\/(ru|uk|ar|hi|th|el|he)\.js$/, read: quoted },
    ],
  },
  {
    name: 'react-native-svg@15.15.5',
    split: 'fresh',
    parts: [
      { category: 'c-like', files: /\.(java|mm|h|cpp)$/ },
      { category: 'typescript', files: /^src\/.*\.tsx?$/ },
    ],
  },
  {
    name: 'primelocale@2.5.0',
    split: 'fresh',
    parts: [{ category: 'labels', files: /^js\/[a-z]{2}\.js$/, read: escapedStrings }],
  },
  { name: 'github-markdown-css@5.9.0', split: 'fresh', parts: [{ category: 'css', files: /\.css$/ }] },
]
