/** The part of highlight.js that is used. */
export type Highlighter = {
  readonly getLanguage: (name: string) => object | undefined
  readonly highlight: (
    code: string,
    options: { readonly language: string; readonly ignoreIllegals: boolean },
  ) => { readonly value: string }
}

declare const highlighter: Highlighter
export default highlighter
