/*
 * VitePress sends these functions to the browser, so each must stand alone: the words of the index and of a question are
 * reduced in the same way.
 */

/** Drops words that every question has, and the endings of others: "rotate" finds "rotation". */
function processTerm(term) {
  const word = term.toLowerCase()
  if (/^(a|an|and|are|do|for|from|how|i|in|is|it|my|of|on|or|own|the|to|up|with)$/.test(word)) return null
  if (word.length < 5 || /[\d_]/.test(word)) return word
  return word.replace(/ies$/, 'y').replace(/(?:at(?:es?|ed|ing|ions?)|ing|ed|es|s)$/, '')
}

/** Pages for users come before those about the inside, and those before lists of names. */
function boostDocument(id) {
  if (/\/(?:internals|decisions|api)\//.test(id)) return 0.15
  if (/\/extending\/|\/packages\/(?:conformance|cloudflare|sqs|client)/.test(id)) return 0.4
  return 1
}

export const search = {
  provider: 'local',
  options: {
    // Only the first form of each code block.
    _render: (source, env, md) => md.render(source, Object.assign(env, { searched: true })),
    miniSearch: {
      options: { processTerm },
      searchOptions: { boost: { title: 5, titles: 2, text: 1 }, boostDocument, fuzzy: 0.2, prefix: true },
    },
  },
}
