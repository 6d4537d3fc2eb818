import type { Block } from '../../../packages/dashboard/src/protocol/verbs.ts'
import { JsonView } from '../kit/json-view.tsx'
import { said } from './verbs.ts'

/** Shows the result of a verb. */
export function Blocks({ blocks }: { readonly blocks: readonly Block[] }) {
  return (
    <>
      {blocks.map((block, i) => (
        <BlockView key={i} block={block} />
      ))}
    </>
  )
}

function BlockView({ block }: { readonly block: Block }) {
  switch (block.kind) {
    case 'line':
      return <p class={`note ${block.tone ?? ''}`}>{said(block.words)}</p>
    case 'note':
      return <p class="small quiet">{said(block.words)}</p>
    case 'list':
      return (
        <ul class="plain-list small">
          {block.items.map(item => (
            <li key={said(item)}>{said(item)}</li>
          ))}
        </ul>
      )
    case 'facts':
      return (
        <dl class="facts">
          {block.facts.flatMap(({ label, words }) => [
            <dt key={`${label} label`}>{label}</dt>,
            <dd key={label}>{said(words)}</dd>,
          ])}
        </dl>
      )
    case 'table':
      return <Table {...block} />
    case 'body':
      return <JsonView text={block.text} />
  }
}

function Table({ columns, rows }: Extract<Block, { kind: 'table' }>) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section class="table-frame" aria-label="Result" tabIndex={0}>
      <table class="wide">
        <thead>
          <tr>
            {columns.map(({ title }) => (
              <th key={title} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, i) => (
                <td key={columns[i]?.title} title={said(cell)}>
                  {said(cell)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}
