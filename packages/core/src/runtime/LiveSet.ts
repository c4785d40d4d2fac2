/**
 * The current members, in no order, for sets that many members join and leave all the time.
 *
 * Not a Set: V8 reallocates the table of a Set whenever it fills with deleted entries, and the old table points to the
 * new one. Once one of the tables is in the old generation, every minor collection keeps and copies their last
 * contents, until a full collection. For the requests in flight this was measured as a quarter of a server's CPU time.
 */
interface Entry<A> {
  readonly member: A
  /** -1 for a member that has left. */
  index: number
}

export class LiveSet<A> {
  readonly #seats: Array<Entry<A>> = []

  get isEmpty(): boolean {
    return this.#seats.length === 0
  }

  get size(): number {
    return this.#seats.length
  }

  /** Adds a member and returns the function that removes it; repeated calls have no effect. */
  add(member: A): () => void {
    const seat: Entry<A> = { member, index: this.#seats.length }
    this.#seats.push(seat)
    return () => this.#leave(seat)
  }

  /** Visits every member that is present throughout; a member that joins or leaves meanwhile may be visited or not. */
  forEach(visit: (member: A) => void): void {
    // From the end: the member that takes the place of a removed one has been visited already.
    for (let at = this.#seats.length - 1; at >= 0; at--) {
      const seat = this.#seats[at]
      if (seat !== undefined) visit(seat.member)
    }
  }

  /** Removes all members for which the predicate is true; it is not called for them again. */
  removeIf(isOver: (member: A) => boolean): void {
    for (let at = this.#seats.length - 1; at >= 0; at--) {
      const seat = this.#seats[at]
      if (seat !== undefined && isOver(seat.member)) this.#leave(seat)
    }
  }

  #leave(seat: Entry<A>): void {
    if (seat.index === -1) return
    const last = this.#seats.pop()!
    if (last !== seat) {
      this.#seats[seat.index] = last
      last.index = seat.index
    }
    seat.index = -1
  }
}
