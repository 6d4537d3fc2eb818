import { type Signal, useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { CopyButton, Field, Source } from './elements.tsx'
import { type JsonMember, type JsonNode, nameOf, parseSource, pathOf, sourceOf } from './json-source.ts'
import { formatCount, TURNING, visible } from './text.ts'

const FIRST_CHILDREN = 100
const OPEN_DEPTH = 3

/** A value in the tree, with the way to it. */
interface Chosen {
  readonly path: string
  readonly node: JsonNode
}

interface Search {
  readonly text: string
  /** Nodes that match, and those around them. */
  readonly found: ReadonlySet<JsonNode>
  readonly count: number
}

/** Shows JSON as a tree that can be searched and copied from, and other text as plain text, never as markup. */
export function JsonView({ text, label = 'Payload' }: { readonly text: string; readonly label?: string }) {
  const root = useMemo(() => parseSource(text), [text])
  const chosen = useSignal<Chosen | undefined>(undefined)
  const wanted = useSignal('')
  const search = useMemo(() => root && searchIn(root, wanted.value), [root, wanted.value])
  if (root === undefined) return <Source label={label} text={text} />
  return (
    <div class="stack tight">
      <div class="bar">
        <Field label={`Search in ${label.toLowerCase()}`}>
          <input
            type="search"
            value={wanted.value}
            onInput={event => (wanted.value = event.currentTarget.value)}
          />
        </Field>
        <span class="small quiet" role="status">
          {search !== undefined && `${formatCount(search.count)} found`}
        </span>
        <div class="bar push">{chosen.value !== undefined && <Copies {...chosen.value} />}</div>
      </div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard. */}
      <section class="tree" aria-label={`${label}, as a tree`} tabIndex={0}>
        <Node
          key={wanted.value}
          member={{ name: undefined, value: root }}
          path=""
          depth={0}
          chosen={chosen}
          search={search}
        />
      </section>
    </div>
  )
}

function Copies({ path, node }: Chosen) {
  return (
    <>
      <code class="small">{path}</code>
      <CopyButton label="Copy value" text={() => sourceOf(node)} />
      <CopyButton label="Copy path" text={() => path} />
    </>
  )
}

interface NodeProps {
  readonly member: JsonMember
  readonly path: string
  readonly depth: number
  /** Place in an array. */
  readonly index?: number | undefined
  readonly chosen: Signal<Chosen | undefined>
  readonly search: Search | undefined
}

function Node({ member: { name, value: node }, path, depth, index, chosen, search }: NodeProps) {
  const text = name === undefined ? (index === undefined ? '' : String(index)) : visible(name, TURNING)
  const style = name === undefined ? 'node quiet' : 'node name'
  const choose = () => {
    chosen.value = { path, node }
  }
  if (!('children' in node))
    return (
      <>
        {text !== '' && (
          <>
            <button
              type="button"
              class={style}
              aria-pressed={chosen.value?.node === node}
              title="Choose, to copy its value or its path"
              onClick={choose}
            >
              {text}
            </button>
            :{' '}
          </>
        )}
        <span class={node.kind}>{visible(node.text, TURNING)}</span>
      </>
    )
  // A branch is chosen as it is folded or unfolded.
  const label = text !== '' && (
    <>
      <span class={style}>{text}</span>:{' '}
    </>
  )
  const [open, close] = node.kind === 'object' ? ['{', '}'] : ['[', ']']
  if (node.children.length === 0)
    return (
      <>
        {label}
        {open}
        {close}
      </>
    )
  return (
    <details open={depth < OPEN_DEPTH || search !== undefined}>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: a summary is interactive, also by keyboard. */}
      <summary onClick={text === '' ? undefined : choose}>
        {label}
        {open} <span class="quiet">{node.children.length}</span> {close}
      </summary>
      <Children node={node} path={path} depth={depth + 1} chosen={chosen} search={search} />
    </details>
  )
}

function Children({
  node: { kind, children },
  path,
  search,
  ...rest
}: Omit<NodeProps, 'member' | 'index'> & { readonly node: Extract<JsonNode, { children: unknown }> }) {
  const shown = useSignal(FIRST_CHILDREN)
  const all = children.map((member, index) => ({ member, index }))
  const members = search === undefined ? all : all.filter(({ member }) => search.found.has(member.value))
  const left = members.length - shown.value
  return (
    <ul>
      {members.slice(0, shown.value).map(({ member, index }) => (
        <li key={index}>
          <Node
            {...rest}
            member={member}
            index={kind === 'array' ? index : undefined}
            path={pathOf(path, member.name, index)}
            search={search}
          />
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

/** Finds the names and values that contain a text, ignoring case. */
function searchIn(root: JsonNode, text: string): Search | undefined {
  const wanted = text.trim().toLowerCase()
  if (wanted === '') return undefined
  const found = new Set<JsonNode>()
  let count = 0
  const look = ({ name, value }: JsonMember, isInside: boolean): boolean => {
    const own = [name === undefined ? '' : nameOf(name), 'children' in value ? '' : value.text]
    const isHere = own.some(one => one.toLowerCase().includes(wanted))
    if (isHere) count++
    let isBelow = false
    if ('children' in value)
      for (const member of value.children) isBelow = look(member, isInside || isHere) || isBelow
    const isShown = isHere || isBelow
    // A branch whose name matches is shown whole.
    if (isShown || isInside) found.add(value)
    return isShown
  }
  look({ name: undefined, value: root }, false)
  return { text: wanted, found, count }
}
