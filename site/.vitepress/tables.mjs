/** Writes empty cells of a table's head as `<td>`: an empty `<th>` is read as a heading without a name. */
export function emptyHeads(md) {
  md.core.ruler.push('empty-heads', ({ tokens }) => {
    for (const [index, token] of tokens.entries()) {
      if (token.type !== 'th_open' || tokens[index + 1]?.content !== '') continue
      token.tag = 'td'
      tokens[index + 2].tag = 'td'
    }
  })
}
