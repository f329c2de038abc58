// Texts as vectors, for hosts that have a model for it: recall then also finds texts that share no word with the query.

export type Embedder = {
  /** Names the model and its settings. Vectors of another name are not compared; they are made again. */
  readonly name: string
  /** One vector for each text, all of the same length. */
  readonly embed: (texts: readonly string[]) => Promise<readonly ArrayLike<number>[]>
}
