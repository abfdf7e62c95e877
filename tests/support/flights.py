"""Flights under gravity and drag in 60 decimal digits: an oracle that shares no formula with the library.

The velocity is a Taylor series of 24 terms over steps of an eighth of its radius of convergence; |v| has the recurrence
of a square root. A step errs by less than 8⁻²⁴ of the speed. Vertical shots have closed forms (tangent up, hyperbolic
tangent down), also through the apex, where |v| v is not analytic.
"""

from decimal import Decimal, localcontext
from typing import NamedTuple

from support.oracle.nearest import dot, subtract

DIGITS, ORDER = 60, 24
ONE, TINY = Decimal(1), Decimal(10) ** -50

Vector = tuple[Decimal, ...]


class State(NamedTuple):
    """Position and velocity of a bullet."""

    place: Vector
    velocity: Vector


def distance(a: Vector, b: Vector) -> Decimal:
    """The Euclidean distance, rounded to the oracle's digits."""
    with localcontext(prec=DIGITS):
        return dot(*[subtract(a, b)] * 2).sqrt()


def acceleration(state: State, gravity: Vector, drag: Decimal) -> Decimal:
    """The magnitude of the acceleration."""
    with localcontext(prec=DIGITS):
        rate = drag * dot(state.velocity, state.velocity).sqrt()
        return distance(gravity, tuple(rate * v for v in state.velocity))


def fly(state: State, gravity: Vector, drag: Decimal, time: Decimal) -> State:
    """The state after `time`."""
    with localcontext(prec=DIGITS):
        if drag == 0:
            return _parabola(state, gravity, time)
        if dot(gravity, gravity) > 0 and _is_vertical(state.velocity, gravity):
            return _vertical(state, gravity, drag, time)
        while time > 0:
            state, time = _taylor(state, gravity, drag, time)
        return state


def _parabola(state: State, gravity: Vector, time: Decimal) -> State:
    x, v = state
    place = tuple(a + b * time + c * time * time / 2 for a, b, c in zip(x, v, gravity, strict=True))
    return State(place, tuple(b + c * time for b, c in zip(v, gravity, strict=True)))


def _is_vertical(v: Vector, g: Vector) -> bool:
    return all(v[i] * g[j] == v[j] * g[i] for i in range(3) for j in range(i))


def _taylor(state: State, gravity: Vector, drag: Decimal, time: Decimal) -> tuple[State, Decimal]:
    """The state after a step, and the remaining time."""
    speed = dot(state.velocity, state.velocity).sqrt()
    rate = drag * speed + dot(gravity, gravity).sqrt() / speed
    step = min(time, 1 / (8 * rate)) if rate else time
    v: list[Vector] = [state.velocity]
    s: list[Decimal] = [speed]
    for n in range(ORDER):
        pushed = [sum((s[k] * v[n - k][i] for k in range(n + 1)), Decimal(0)) for i in range(3)]
        v.append(tuple(((gravity[i] if n == 0 else 0) - drag * pushed[i]) / (n + 1) for i in range(3)))
        square = sum((dot(v[k], v[n + 1 - k]) for k in range(n + 2)), Decimal(0))
        s.append((square - sum((s[k] * s[n + 1 - k] for k in range(1, n + 1)), Decimal(0))) / (2 * speed))
    place, velocity = list(state.place), [Decimal(0)] * 3
    for i in range(3):
        place[i] += sum((v[n][i] * step ** (n + 1) / (n + 1) for n in range(ORDER)), Decimal(0))
        velocity[i] = sum((v[n][i] * step**n for n in range(ORDER + 1)), Decimal(0))
    return State(tuple(place), tuple(velocity)), time - step


def _vertical(state: State, gravity: Vector, drag: Decimal, time: Decimal) -> State:
    """A shot along gravity: with u the speed upward, u' = -g - drag |u| u."""
    pull = dot(gravity, gravity).sqrt()
    up = tuple(-g / pull for g in gravity)
    u, omega, last = dot(state.velocity, up), (pull * drag).sqrt(), (pull / drag).sqrt()
    height = Decimal(0)
    if u > 0:
        rise = min(time, _arctangent(u / last) / omega)
        cosine, sine = _cosine_and_sine(omega * rise)
        height += (cosine + u / last * sine).ln() / drag
        u = (u * cosine - last * sine) / (cosine + u / last * sine)
        time -= rise
        u = u if time == 0 else Decimal(0)
    if time > 0:  # -u = last tanh(ω t + c)
        growth, w = (omega * time).exp(), -u / last
        cosh, sinh = (growth + 1 / growth) / 2, (growth - 1 / growth) / 2
        height -= (cosh + w * sinh).ln() / drag
        u = -last * (sinh + w * cosh) / (cosh + w * sinh)
    return State(tuple(x + height * a for x, a in zip(state.place, up, strict=True)), tuple(u * a for a in up))


def _arctangent(x: Decimal) -> Decimal:
    halvings = 6
    for _ in range(halvings):
        x = x / (1 + (1 + x * x).sqrt())
    term, total, n = x, x, 1
    while abs(term) > TINY * TINY:
        term, n = -term * x * x, n + 2
        total += term / n
    return total * 2**halvings


def _cosine_and_sine(angle: Decimal) -> tuple[Decimal, Decimal]:
    totals, term, n = [ONE, Decimal(0)], ONE, 0
    while abs(term) > TINY * TINY or n < 4:
        n += 1
        term = term * angle / n
        totals[n % 2] += term if n % 4 < 2 else -term
    return totals[0], totals[1]
