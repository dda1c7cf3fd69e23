"""The heuristic's weights, fitted by self-play and written by scripts/fit_heuristic."""

import numpy as np

from splendor_sim.core.cards import read_only

_FIELDS = np.dtype(
    [
        ("scale", "f4"),  # of all scores: how sharp softmax of them is
        ("points", "f4", (6,)),  # worth of a card by its prestige
        ("points_left", "f4"),  # more worth a prestige for each that the leading seat lacks for the target
        ("bonus", "f4"),  # worth of any bonus
        ("bonus_left", "f4"),  # and more for each prestige that the leading seat lacks for the target
        ("use", "f4", (6,)),  # worth of a bonus for each card in sight that asks for it, by that card's prestige
        ("noble", "f4", (10,)),  # and for each noble that asks for it, by the number of bonuses lacking
        ("cost", "f4"),  # worth lost for each token due
        ("near", "f4", (16,)),  # share of a card's worth that counts by tokens lacking, 0 of them at place 3
        ("deep", "f4", (6,)),  # factor of it by the number of colours of which three or more are lacking
        ("own", "f4"),  # factor of it for a reserved card
        ("contested", "f4"),  # factor of it if another seat can buy the card now
        ("take_three", "f4"),  # a take of three
        ("take_two", "f4"),  # a take of two
        ("take_one", "f4"),  # a take of one
        ("over", "f4", (4,)),  # lost by the number of tokens beyond the limit
        ("hand", "f4", (3,)),  # a reserve, by the number of cards held
        ("gold", "f4"),  # the gold that comes with it
        ("reserve_gain", "f4"),  # factor of what counts of the reserved card
        ("deck", "f4", (3,)),  # a reserve from a deck, by level
        ("buy", "f4"),  # a buy
        ("buy_gain", "f4"),  # factor of the card's worth
        ("buy_reserved", "f4"),  # a buy of a reserved card
        ("gold_paid", "f4"),  # lost for each gold paid
        ("deny", "f4", (6,)),  # another seat can buy the card now, by prestige
        ("deny_end", "f4"),  # another seat could end the game with it: bought away
        ("deny_end_reserve", "f4"),  # reserved away
        ("final", "f4"),  # each prestige of a buy that ends the game or comes in its last round
        ("win", "f4"),  # such a buy, if it leads then
        ("tie", "f4"),  # if it draws level
        ("lose", "f4"),  # lost if it does not
        ("keep_gold", "f4"),  # in phase pay: gold only where it must be
        ("noble_rival", "f4"),  # in phase noble: for each bonus that the others lack for it
        ("gold_kept", "f4"),  # in phase return: gold is worth so much more
        ("spare", "f4"),  # in phase return: factor of the loss if gold is left over
        ("return_scale", "f4"),  # in phase return: factor of all scores
    ]
)
WEIGHTS_DTYPE = np.dtype((np.record, _FIELDS))

# --- The weights -----------------------------------------------------------------------------------------------------
# By number of seats less 2, fields in the order of WEIGHTS_DTYPE.

# fmt: off
_FITTED = [
    (
        4.089,  # scale
        (-0.08092, 1.129, 2.4, 3.699, 5.082, 6.209),  # points
        -0.0377,  # points_left
        0.02948,  # bonus
        0.0871,  # bonus_left
        (0.02923, 0.05043, 0.08742, 0.09675, 0.2222, 0.09241),  # use
        (-0.1063, 4.528, 1.332, 0.7619, 0.5069, 0.3841, 0.2706, 0.1105,
         0.2068, 0.2832),  # noble
        0.4342,  # cost
        (1.351, 1.316, 1.132, 1.259, 0.8239, 0.551, 0.3869, 0.2928,
         0.1973, 0.1895, 0.157, 0.08852, 0.07122, 0.1052, -0.02862, 0.02316),  # near
        (0.5669, 0.6192, 0.3942, 0.3942, 0.3942, 0.3942),  # deep
        1.128,  # own
        1.062,  # contested
        0.2285,  # take_three
        -0.03244,  # take_two
        -0.1072,  # take_one
        (-0.03299, 0.7831, 1.852, 1.658),  # over
        (-0.6571, -1.113, -1.425),  # hand
        0.1462,  # gold
        0.2543,  # reserve_gain
        (-0.6866, -1.99, -0.6262),  # deck
        -0.131,  # buy
        1.007,  # buy_gain
        0.02486,  # buy_reserved
        0.2283,  # gold_paid
        (0.06757, 0.1234, 0.04662, 0.635, 0.3622, 1.412),  # deny
        2.257,  # deny_end
        7.616,  # deny_end_reserve
        0.6481,  # final
        9.955,  # win
        2.646,  # tie
        15.96,  # lose
        0.7471,  # keep_gold
        0.2671,  # noble_rival
        0.3777,  # gold_kept
        0.1099,  # spare
        1.266,  # return_scale
    ),
    (
        2.359,  # scale
        (-0.04875, 0.8065, 1.684, 2.708, 4.138, 5.28),  # points
        -0.02864,  # points_left
        -0.1805,  # bonus
        0.08208,  # bonus_left
        (-0.02066, 0.05281, 0.1197, 0.06836, 0.1435, 0.1248),  # use
        (0.06532, 3.254, 1.533, 0.8855, 0.5177, 0.2301, 0.1469, 0.1631,
         0.2209, 0.1535),  # noble
        0.3414,  # cost
        (1.266, 0.9451, 1.134, 1.642, 1.028, 0.6971, 0.49, 0.3408,
         0.2295, 0.1207, 0.03917, 0.01718, -0.04859, 0.1077, 0.01605, 0.1156),  # near
        (0.7368, 0.7894, 0.2265, 0.2265, 0.2265, 0.2265),  # deep
        1.146,  # own
        0.7162,  # contested
        0.1887,  # take_three
        -0.2008,  # take_two
        0.02604,  # take_one
        (-0.04133, 0.446, 1.721, 2.057),  # over
        (-1.245, -2.192, -0.8658),  # hand
        0.2048,  # gold
        0.2709,  # reserve_gain
        (-0.5002, -1.189, -0.4033),  # deck
        -0.1096,  # buy
        1.579,  # buy_gain
        0.4226,  # buy_reserved
        0.3589,  # gold_paid
        (0.02628, -0.008598, 0.3147, 0.3947, 0.573, 1.077),  # deny
        3.165,  # deny_end
        6.493,  # deny_end_reserve
        0.5972,  # final
        24.83,  # win
        2.212,  # tie
        9.727,  # lose
        1.945,  # keep_gold
        0.2647,  # noble_rival
        0.3517,  # gold_kept
        0.04163,  # spare
        0.9593,  # return_scale
    ),
    (
        2.062,  # scale
        (-0.1301, 0.753, 2.105, 2.981, 4.535, 6.26),  # points
        -0.03661,  # points_left
        -0.2041,  # bonus
        0.1011,  # bonus_left
        (-0.04548, 0.05829, 0.1024, 0.001217, 0.2122, 0.3281),  # use
        (0.086, 3.945, 1.932, 0.8436, 0.4583, 0.2652, 0.1935, 0.04875,
         0.2693, 0.1637),  # noble
        0.4127,  # cost
        (1.189, 0.8524, 1.195, 2.03, 1.19, 0.7771, 0.5355, 0.297,
         0.1496, 0.09483, 0.07865, 0.01332, -0.04213, 0.08041, 0.03868, -0.04096),  # near
        (0.6647, 0.7821, 0.4145, 0.4145, 0.4145, 0.4145),  # deep
        1.376,  # own
        0.4938,  # contested
        0.227,  # take_three
        -0.2013,  # take_two
        0.008352,  # take_one
        (-0.04707, 0.5572, 1.775, 1.981),  # over
        (-1.17, -2.18, -0.9188),  # hand
        0.2241,  # gold
        0.2354,  # reserve_gain
        (-0.6989, -1.303, -0.5846),  # deck
        -0.2112,  # buy
        1.862,  # buy_gain
        0.4092,  # buy_reserved
        0.2222,  # gold_paid
        (0.02325, -0.07618, 0.247, 0.352, 0.6855, 0.9777),  # deny
        3.374,  # deny_end
        5.547,  # deny_end_reserve
        0.4315,  # final
        26.19,  # win
        3.203,  # tie
        7.837,  # lose
        1.666,  # keep_gold
        0.3576,  # noble_rival
        0.4728,  # gold_kept
        0.09379,  # spare
        0.9985,  # return_scale
    ),
]
# fmt: on
WEIGHTS = read_only(np.array(_FITTED, _FIELDS).view(WEIGHTS_DTYPE))
