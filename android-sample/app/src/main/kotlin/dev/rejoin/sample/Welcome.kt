package dev.rejoin.sample

import android.view.LayoutInflater
import android.view.View
import android.view.ViewGroup
import android.widget.TextView

/** What an empty screen shows: the stories that a flaky server can play. */
fun welcome(parent: ViewGroup, chosen: (Story) -> Unit): View {
    val inflater = LayoutInflater.from(parent.context)
    val view = inflater.inflate(R.layout.welcome, parent, false)
    val stories = view.findViewById<ViewGroup>(R.id.stories)
    for (story in Story.ALL) {
        val row = inflater.inflate(R.layout.story, stories, false)
        row.findViewById<TextView>(R.id.story_title).text = story.title
        row.findViewById<TextView>(R.id.story_question).text = story.question
        row.setOnClickListener { chosen(story) }
        stories.addView(row)
    }
    return view
}
