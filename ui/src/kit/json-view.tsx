import { useSignal } from '@preact/signals'
import { Source } from './elements.tsx'
import { type JsonMember, type JsonNode, parseSource } from './json-source.ts'
import { formatCount, TURNING, visible } from './text.ts'

const FIRST_CHILDREN = 100
const OPEN_DEPTH = 3

/** Shows JSON as a tree, and other text as plain text, never as markup. */
export function JsonView({ text, label = 'Payload' }: { readonly text: string; readonly label?: string }) {
  const root = parseSource(text)
  if (root === undefined) return <Source label={label} text={text} />
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
    <section class="tree" aria-label={`${label}, as a tree`} tabIndex={0}>
      <Node node={root} depth={0} />
    </section>
  )
}

function Node({
  node,
  depth,
  name,
}: {
  readonly node: JsonNode
  readonly depth: number
  readonly name?: string | undefined
}) {
  const label = name !== undefined && <span class="name">{visible(name, TURNING)}: </span>
  if ('children' in node) {
    const [open, close] = node.kind === 'object' ? ['{', '}'] : ['[', ']']
    if (node.children.length === 0) {
      return (
        <>
          {label}
          {open}
          {close}
        </>
      )
    }
    return (
      <details open={depth < OPEN_DEPTH}>
        <summary>
          {label}
          {open} <span class="quiet">{node.children.length}</span> {close}
        </summary>
        <Children members={node.children} depth={depth + 1} />
      </details>
    )
  }
  return (
    <>
      {label}
      <span class={node.kind}>{visible(node.text, TURNING)}</span>
    </>
  )
}

function Children({ members, depth }: { readonly members: readonly JsonMember[]; readonly depth: number }) {
  const shown = useSignal(FIRST_CHILDREN)
  const left = members.length - shown.value
  return (
    <ul>
      {members.slice(0, shown.value).map(({ name, value }, index) => (
        <li key={index}>
          <Node node={value} depth={depth} name={name} />
        </li>
      ))}
      {left > 0 && (
        <li>
          <button type="button" class="plain" onClick={() => (shown.value += 1000)}>
            {formatCount(left)} more
          </button>
        </li>
      )}
    </ul>
  )
}
