// The SDK's types in the public face of everlong/ai-sdk. Apart from everything else, so that the types of everlong/mastra,
// which shares the rest, do not need the package.
export type { LanguageModelV4, LanguageModelV4CallOptions, LanguageModelV4Middleware } from '@ai-sdk/provider'
