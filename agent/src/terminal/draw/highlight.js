// JavaScript with types of our own, because the library's own ask for all types of browsers, which would then hold in every file.
export { default } from 'highlight.js/lib/common'
