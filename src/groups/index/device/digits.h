// The digits of sums into groups (by_index.cl), and words beside them.

#define DIGIT_BITS 34
#define DIGIT_MASK ((1UL << DIGIT_BITS) - 1)

// Words that launches change beside the planes.
#define OUTSIDE 0        // elements whose index is not below the number of groups
#define FIRST_OUTSIDE 1  // the number of elements from the first of these to the end of the launch's
#define TOP 2            // the highest digit that is used, plus one; by squares TOP + 2
#define BOTTOM 3         // the number of digits from the lowest that is used to the last of all
#define SPECIAL 6        // whether there is any NaN, infinity or -0.0
#define GREATEST 7       // the highest bit of the elements, plus one
#define UNFIT 8          // results that do not fit
#define CHANGES 9        // indices of a sample that are not the next one
#define WRONG_OFFSETS 10 // whether any offset is less than the one before it, or behind the last element
#define FIRST_OFFSET 11  // as two words, the lower one first
#define LAST_OFFSET 13   // likewise
