"""STATE_DTYPE: the whole game as one flat record, and what its fields mean."""

import numpy as np

# Phases of a turn, in the order of RULES.md.
MAIN, PAYING, RETURNING, CHOOSING_NOBLE, OVER = 0, 1, 2, 3, 4
PHASE_NAMES = ("main", "pay", "return", "noble", "over")
MAX_PLAYERS = 4

STATE_DTYPE = np.dtype(
    (
        np.record,
        np.dtype(
            [
                # Hidden: all cards that will come up follow from it (rng.py). Never part of what a seat knows.
                ("key", "u8"),
                ("bank", "u8"),  # gem vector
                ("deck", "u8", (3,)),  # by level: bit i set = card LEVEL_START[level] + i is left
                ("tokens", "u8", (4,)),  # by seat: gem vector
                ("bonuses", "u8", (4,)),  # by seat: gem vector, no gold
                ("cards", "u8", (4, 2)),  # by seat: set of bought cards, bit id % 64 of word id // 64
                # By place in the row of nobles: gem vector of bonuses asked for, 64 white where there is none. `met`
                # (jit.py) loads eight words from here, so at least 24 bytes must follow.
                ("noble_gems", "u8", (5,)),
                ("pending_gold", "u8"),  # phase pay: gem vector of the colours that gold is chosen for; else 0
                # What can be bought lies in 24 places: 0-11 the board's slots, 4 * (level - 1) + column, and from
                # 12 + 3 * seat on a seat's reserved cards, oldest first. Costs are held by colour, so that a hand is
                # compared with all places at once; affordable (jit.py) loads 32 bytes from the start of each row, so
                # at least 8 bytes must follow the last.
                ("cost_at", "u1", (5, 24)),  # [colour, place]: what a card costs; 64 white where there is none
                ("card_at", "u1", (24,)),  # by place: card id, NO_CARD where there is none
                ("turn", "u4"),  # finished turns
                ("visited", "u2", (4,)),  # by seat: set of noble tiles, bit = tile id
                ("on_offer", "u2"),  # what may be reserved: bits 0-11 slots with a card, 12-14 decks with a card
                ("pending_card", "u1"),  # phase pay: the id of the card that is being bought; else NO_CARD
                ("nobles", "u1", (5,)),  # by place in the row: tile id, NO_NOBLE where taken or never laid
                ("players", "u1"),  # 2-4
                ("to_move", "u1"),  # seat
                ("phase", "u1"),  # MAIN ... OVER
                ("passes", "u1"),  # turns in succession that were passed
                ("waiting", "u1"),  # set of seats that meet the requirement of a noble in the row
                ("target_reached", "u1"),  # 1 if a seat has target_prestige
                ("prestige", "u1", (4,)),  # by seat
                ("bought", "u1", (4,)),  # by seat: number of bought cards
                ("reserved_count", "u1", (4,)),  # by seat
                ("hidden", "u1", (4,)),  # by seat: set of places in `reserved` whose card came from a deck
                # Always 0: a gap here would be left unset in copies that numpy makes, and states are compared as bytes.
                ("filler", "u1", (4,)),
                # The rules, as Rules.for_players gives them.
                ("gem_tokens", "u1"),
                ("gold_tokens", "u1"),
                ("target_prestige", "u1"),
                ("token_limit", "u1"),
                ("reserve_limit", "u1"),
                ("take_two_min", "u1"),
                ("take_fewer", "u1"),
                ("payment", "u1"),
                ("tie_break", "u1"),
                ("end", "u1"),
            ],
            align=True,
        ),
    )
)
_names = STATE_DTYPE.names or ()
RULE_FIELDS = _names[_names.index("gem_tokens") :]
