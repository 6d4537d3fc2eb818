/** A filter in the words of its page: the field's label and its value. */
export type Word = readonly [label: string, value: string]

/**
 * What an address selects. A list keeps the selection that its rows were loaded with. Counts and changes take that one,
 * so that they concern what the list shows.
 */
export interface Selection<Filter extends object = Readonly<Record<string, string>>> {
  /** Filter for the API. */
  readonly filter: Filter
  /** Parameter of the API; empty for the default. */
  readonly order: '' | 'oldest'
  /** The same filter, for a person. */
  readonly words: readonly Word[]
  /** Part of the address that it was read from. */
  readonly address: string
}
