import {
  type Attributes,
  type AttributeValue,
  type Exception,
  INVALID_SPAN_CONTEXT,
  type Link,
  type Span,
  type SpanContext,
  type SpanStatus,
  type TimeInput,
  trace,
} from '@opentelemetry/api'

const NOT_BEGUN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT)

/**
 * The span of one attempt. It is active once an inbox hands out the event, but begins with the handlers: an event that
 * is put back for another process must leave no span. Until it begins, its context is invalid.
 */
export class AttemptSpan implements Span {
  /** Ends with the attempt if true, otherwise with the observation of its end. */
  readonly isWrapped: boolean
  readonly #start: () => Span
  #span = NOT_BEGUN

  constructor(start: () => Span, { isWrapped }: { readonly isWrapped: boolean }) {
    this.#start = start
    this.isWrapped = isWrapped
  }

  begin(): void {
    if (this.#span === NOT_BEGUN) this.#span = this.#start()
  }

  spanContext(): SpanContext {
    return this.#span.spanContext()
  }

  setAttribute(key: string, value: AttributeValue): this {
    this.#span.setAttribute(key, value)
    return this
  }

  setAttributes(attributes: Attributes): this {
    this.#span.setAttributes(attributes)
    return this
  }

  addEvent(name: string, attributes?: Attributes | TimeInput, time?: TimeInput): this {
    this.#span.addEvent(name, attributes, time)
    return this
  }

  addLink(link: Link): this {
    this.#span.addLink(link)
    return this
  }

  addLinks(links: Link[]): this {
    this.#span.addLinks(links)
    return this
  }

  setStatus(status: SpanStatus): this {
    this.#span.setStatus(status)
    return this
  }

  updateName(name: string): this {
    this.#span.updateName(name)
    return this
  }

  end(time?: TimeInput): void {
    this.#span.end(time)
  }

  isRecording(): boolean {
    return this.#span.isRecording()
  }

  recordException(exception: Exception, time?: TimeInput): void {
    this.#span.recordException(exception, time)
  }
}
